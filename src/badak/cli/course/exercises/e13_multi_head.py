"""Multi-head attention by reshape."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, trained
from badak.nn import functional as F
from badak.tensor import cat, eye


def own(x, wq, wk, wv, wo, heads):
    """Head by head, each from its own rows of the weights."""
    D = x.shape[-1] // heads
    out = [
        F.scaled_dot_product_attention(*(F.linear(x, w[h * D : h * D + D]) for w in (wq, wk, wv)), is_causal=True)
        for h in range(heads)
    ]
    return F.linear(cat(out, -1), wo)


def cases() -> list[Case]:
    rows = []
    for B, T, C, heads in [(1, 3, 4, 1), (1, 3, 4, 2), (2, 5, 6, 3), (2, 4, 8, 2), (3, 4, 4, 4)]:
        weights = [draw(C, C, seed=s, grad=True) for s in (1, 2, 3, 4)]
        rows.append(Case(f"B={B}, T={T}, C={C}, heads={heads}", (draw(B, T, C, grad=True), *weights, heads)))
    return rows


def trial(program):
    """In the place of the tiny model's attention: its heads joined, and cut again by the program."""

    def attend(function):
        def mixed(q, k, v, keep):
            B, H, T, D = v.shape
            one = eye(H * D)
            y = function(v.transpose(1, 2).reshape(B, T, H * D), one, one, one, one, H)
            return y.reshape(B, T, H, D).transpose(1, 2)

        return mixed

    return trained({"attend": attend(program.multi_head)}, {"attend": attend(own)})


EXERCISE = Exercise(
    title=Both("Multi-head attention by reshape", "reshape로 만드는 멀티헤드 어텐션"),
    text=Both(
        """
Causal self-attention with several heads, without a loop over the heads.

x (B, T, C); wq, wk, wv, wo (C, C), used as F.linear(x, w) = x @ w.T. heads H divides C, D = C / H.
q = F.linear(x, wq) (B, T, C) -> (B, H, T, D): head h has the channels h D .. h D + D - 1.
Attention of each head on its own; back to (B, T, C), head after head; then F.linear(..., wo).

You may use F.scaled_dot_product_attention(q, k, v, is_causal=True).
""",
        """
헤드가 여럿인 인과 셀프 어텐션을 헤드에 대한 반복문 없이 만듭니다.

x (B, T, C); wq, wk, wv, wo (C, C)는 F.linear(x, w) = x @ w.T로 씁니다. 헤드 수 H는 C를 나누고 D = C / H입니다.
q = F.linear(x, wq) (B, T, C) -> (B, H, T, D): 헤드 h의 채널은 h D .. h D + D - 1입니다.
헤드마다 따로 어텐션을 하고, 헤드 순서대로 (B, T, C)로 되돌린 뒤 F.linear(..., wo)를 합니다.

F.scaled_dot_product_attention(q, k, v, is_causal=True)을 써도 됩니다.
""",
    ),
    solution='''\
def multi_head(x, wq, wk, wv, wo, heads):
    B, T, C = x.shape

    def split(y):
        return y.reshape(B, T, heads, C // heads).transpose(1, 2)

    q, k, v = split(F.linear(x, wq)), split(F.linear(x, wk)), split(F.linear(x, wv))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    out = out.transpose(1, 2).reshape(B, T, C)
    return F.linear(out, wo)
''',
    derivation=Both(
        "reshape reads memory in order and cuts the last axis C into H blocks of D: (B, T, H, D). transpose brings the heads to the front, so that\n"
        "matmul sees (T, D) matrices, one for each b and h. reshape(B, H, T, D) in one go has the same shape, and mixes positions with\n"
        "channels: the first head would get the first T / H rows.",
        "reshape는 메모리 순서대로 읽어 마지막 축 C를 D짜리 블록 H개로 자릅니다: (B, T, H, D). transpose가 헤드를 앞으로 옮기면 matmul은\n"
        "b와 h마다 (T, D) 행렬을 봅니다. 한 번에 reshape(B, H, T, D)를 하면 형상은 같지만 위치와 채널이 섞입니다. 첫 헤드가 처음\n"
        "T / H개의 행을 가져갑니다.",
    ),
    hints=(
        Both("(B, T, C) -> (B, T, H, D) is a reshape, -> (B, H, T, D) a transpose.", "(B, T, C) -> (B, T, H, D)는 reshape, -> (B, H, T, D)는 transpose입니다."),
        Both("On the way back, transpose first, then reshape.", "되돌릴 때는 먼저 transpose, 그 다음 reshape입니다."),
        Both("out.transpose(1, 2).reshape(B, T, C), then F.linear(out, wo).", "out.transpose(1, 2).reshape(B, T, C) 다음에 F.linear(out, wo)입니다."),
    ),
    cases=cases,
    oracle=own,
    mistakes=(
        Mistake("the heads are cut by one reshape, without a transpose: positions and channels are mixed", "transpose 없이 reshape만으로 헤드를 나누어 위치와 채널이 섞였습니다",
                ("y.reshape(B, T, heads, C // heads).transpose(1, 2)", "y.reshape(B, heads, T, C // heads)")),
        Mistake("the heads are joined without a transpose", "transpose 없이 헤드를 합쳤습니다", ("out.transpose(1, 2).reshape", "out.reshape")),
        Mistake("the heads are cut and joined without a transpose", "transpose 없이 헤드를 나누고 합쳤습니다",
                ("y.reshape(B, T, heads, C // heads).transpose(1, 2)", "y.reshape(B, heads, T, C // heads)"), ("out.transpose(1, 2).reshape", "out.reshape")),
        Mistake("there is one head: the channels are not cut", "헤드가 하나입니다: 채널을 나누지 않았습니다", ("    def split(y):", "    heads = 1\n\n    def split(y):")),
        Mistake("H and D are swapped: there are D heads of H channels", "H와 D가 바뀌어 H채널짜리 헤드가 D개입니다", ("heads, C // heads", "C // heads, heads")),
        Mistake("head h has every H-th channel, not a block", "헤드 h가 블록이 아니라 H개마다 하나씩의 채널을 가집니다",
                ("y.reshape(B, T, heads, C // heads).transpose(1, 2)", "y.reshape(B, T, C // heads, heads).permute(0, 3, 1, 2)")),
        Mistake("wo is missing", "wo가 빠졌습니다", ("F.linear(out, wo)", "out")),
        Mistake("the weights are not transposed: x @ w in the place of x @ w.T", "가중치를 전치하지 않았습니다: x @ w.T가 아니라 x @ w입니다",
                ("F.linear(x, wq)", "x @ wq"), ("F.linear(x, wk)", "x @ wk"), ("F.linear(x, wv)", "x @ wv"), ("F.linear(out, wo)", "out @ wo")),
        Mistake("wo is not transposed", "wo를 전치하지 않았습니다", ("F.linear(out, wo)", "out @ wo")),
        Mistake("the attention is not causal", "어텐션이 인과적이지 않습니다", ("is_causal=True", "is_causal=False")),
        Mistake("q and k are swapped", "q와 k가 바뀌었습니다", ("attention(q, k, v", "attention(k, q, v")),
        Mistake("k and v are swapped", "k와 v가 바뀌었습니다", ("attention(q, k, v", "attention(q, v, k")),
        Mistake("k is made with wq", "k를 wq로 만들었습니다", ("F.linear(x, wk)", "F.linear(x, wq)")),
        Mistake("v is made with wk", "v를 wk로 만들었습니다", ("F.linear(x, wv)", "F.linear(x, wk)")),
        Mistake("the scale is that of C, not of D", "스케일이 D가 아니라 C의 것입니다", ("is_causal=True", "is_causal=True, scale=C ** -0.5")),
        Mistake("v is x itself, without wv", "v가 wv를 거치지 않은 x입니다", ("split(F.linear(x, wv))", "split(x)")),
    ),
    trial=trial,
)  # fmt: skip
