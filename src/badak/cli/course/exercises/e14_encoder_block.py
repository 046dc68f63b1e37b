"""The block of a Transformer encoder."""

from badak import nn
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.exercises.blocks import functional, weights
from badak.cli.course.trial import draw
from badak.tensor import tensor


def own(x, keep, w, heads):
    layer = nn.TransformerEncoderLayer(x.shape[-1], heads, w["up"].shape[0], dropout=0.0, batch_first=True)
    return functional(layer, w, {"self_attn": ""}, x, src_key_padding_mask=~keep)


def cases() -> list[Case]:
    rows = []
    for B, T, C, heads in [(1, 2, 4, 1), (2, 3, 4, 2), (2, 5, 8, 4)]:
        keep = tensor([[True] * T] * B)
        rows.append(Case(f"B={B}, T={T}, C={C}, heads={heads}", (draw(B, T, C, grad=True), keep, weights(C, 2), heads)))
    padded = tensor([[True, True, True, True], [True, True, False, False]])
    return [
        *rows,
        Case(Both("padding in the second row", "두 번째 행에 패딩"), (draw(2, 4, 4, grad=True), padded, weights(4, 2), 2)),
    ]


EXERCISE = Exercise(
    title=Both("A block of the encoder", "인코더 블록"),
    text=Both(
        """
The block of "Attention Is All You Need", norms behind the sums (post-norm), without dropout:

x = norm1(x + attention(x));  x = norm2(x + down(relu(up(x))))

x (B, T, C). keep (B, T) of bool: False where a token is padding, which no query may see.
w: a dict of weights. q, k, v, o (C, C) for attention with `heads` heads, as in exercise 13, not
causal; up (M, C) and down (C, M), all used as F.linear(x, w["up"]); scale1, shift1, scale2,
shift2 (C,) for F.layer_norm(x, (C,), w["scale1"], w["shift1"]). Returns (B, T, C).
""",
        """
"Attention Is All You Need"의 블록입니다. 노름은 덧셈 뒤에 있고(post-norm) 드롭아웃은 없습니다.

x = norm1(x + attention(x));  x = norm2(x + down(relu(up(x))))

x (B, T, C). bool 텐서 keep (B, T)은 패딩 토큰에서 False이고, 패딩은 어떤 쿼리도 볼 수 없습니다.
w: 가중치의 dict. q, k, v, o (C, C)는 헤드가 `heads`개인 어텐션(13번 연습, 단 인과적이 아님)에 쓰고,
up (M, C)과 down (C, M)까지 모두 F.linear(x, w["up"])처럼 씁니다. scale1, shift1, scale2, shift2 (C,)는
F.layer_norm(x, (C,), w["scale1"], w["shift1"])에 씁니다. 반환값은 (B, T, C)입니다.
""",
    ),
    solution='''\
def encoder_block(x, keep, w, heads):
    B, T, C = x.shape
    q, k, v = (F.linear(x, w[name]).reshape(B, T, heads, -1).transpose(1, 2) for name in "qkv")
    mixed = F.scaled_dot_product_attention(q, k, v, keep[:, None, None, :])
    mixed = F.linear(mixed.transpose(1, 2).reshape(B, T, C), w["o"])
    x = F.layer_norm(x + mixed, (C,), w["scale1"], w["shift1"])
    hidden = F.linear(x, w["up"]).relu()
    return F.layer_norm(x + F.linear(hidden, w["down"]), (C,), w["scale2"], w["shift2"])
''',
    derivation=Both(
        "y = x + f(x) has dy/dx = 1 + f'(x): through any number of blocks there is a way for the gradient with factor 1, until a norm\n"
        "rescales it. Attention mixes positions and treats channels alike; the two layers behind it mix channels, one position at a time.",
        "y = x + f(x)이면 dy/dx = 1 + f'(x)이므로 블록이 몇 개이든 기울기에 배율 1인 길이 있고, 노름만 크기를 바꿉니다. 어텐션은 위치를\n"
        "섞고, 그 뒤의 두 층은 위치마다 따로 채널을 섞습니다.",
    ),
    hints=(
        Both("Three parts: attention (exercise 13), sum and norm, two layers with relu, sum and norm.", "세 부분입니다: 어텐션(13번 연습), 합과 노름, relu가 있는 두 층과 합과 노름."),
        Both("keep[:, None, None, :] hides padding on the axis of keys.", "keep[:, None, None, :]는 키의 축에서 패딩을 가립니다."),
        Both("The second sum starts from the x that came out of norm1.", "두 번째 합은 norm1에서 나온 x에서 시작합니다."),
    ),
    cases=cases,
    oracle=own,
    mistakes=(
        Mistake("the norm comes before attention, not behind the sum (pre-norm)", "노름이 합 뒤가 아니라 어텐션 앞에 있습니다(pre-norm)",
                ('F.linear(x, w[name])', 'F.linear(F.layer_norm(x, (C,), w["scale1"], w["shift1"]), w[name])'),
                ('x = F.layer_norm(x + mixed, (C,), w["scale1"], w["shift1"])', "x = x + mixed"),
                ('F.linear(x, w["up"])', 'F.linear(F.layer_norm(x, (C,), w["scale2"], w["shift2"]), w["up"])'),
                ('F.layer_norm(x + F.linear(hidden, w["down"]), (C,), w["scale2"], w["shift2"])', 'x + F.linear(hidden, w["down"])')),
        Mistake("the residual around attention is missing", "어텐션을 건너뛰는 잔차 연결이 없습니다", ("x + mixed", "mixed")),
        Mistake("the residual around the two layers is missing", "두 층을 건너뛰는 잔차 연결이 없습니다", ("x + F.linear(hidden", "F.linear(hidden")),
        Mistake("both residuals are missing", "잔차 연결이 둘 다 없습니다", ("x + mixed", "mixed"), ("x + F.linear(hidden", "F.linear(hidden")),
        Mistake("the first norm is missing", "첫 번째 노름이 없습니다", ('F.layer_norm(x + mixed, (C,), w["scale1"], w["shift1"])', "x + mixed")),
        Mistake("the last norm is missing", "마지막 노름이 없습니다", ('F.layer_norm(x + F.linear(hidden, w["down"]), (C,), w["scale2"], w["shift2"])', 'x + F.linear(hidden, w["down"])')),
        Mistake("the relu is missing", "relu가 없습니다", (".relu()", "")),
        Mistake("gelu stands in the place of relu", "relu 대신 gelu를 썼습니다", ('F.linear(x, w["up"]).relu()', 'F.gelu(F.linear(x, w["up"]))')),
        Mistake("padding is not hidden", "패딩을 가리지 않았습니다", (", keep[:, None, None, :])", ")")),
        Mistake("the mask is the wrong way round: only padding is seen", "마스크가 반대라 패딩만 봅니다", ("keep[:,", "~keep[:,")),
        Mistake("o is missing behind attention", "어텐션 뒤에 o가 없습니다", ('F.linear(mixed.transpose(1, 2).reshape(B, T, C), w["o"])', "mixed.transpose(1, 2).reshape(B, T, C)")),
        Mistake("the heads are joined without a transpose", "transpose 없이 헤드를 합쳤습니다", ("mixed.transpose(1, 2).reshape", "mixed.reshape")),
        Mistake("the heads are cut without a transpose", "transpose 없이 헤드를 나누었습니다", (".reshape(B, T, heads, -1).transpose(1, 2)", ".reshape(B, heads, T, -1)")),
        Mistake("the same norm is used twice", "같은 노름을 두 번 썼습니다", ('"scale2"', '"scale1"'), ('"shift2"', '"shift1"')),
        Mistake("the attention is causal: an encoder sees both sides", "어텐션이 인과적입니다: 인코더는 양쪽을 봅니다",
                ("keep[:, None, None, :]", "keep[:, None, None, :] & badak.ones(T, T, dtype=badak.bool).tril()")),
        Mistake("there is one head: the channels are not cut", "헤드가 하나입니다: 채널을 나누지 않았습니다", ("    B, T, C = x.shape\n", "    B, T, C = x.shape\n    heads = 1\n")),
        Mistake("the second residual adds what came into the block, not what came out of norm1", "두 번째 잔차가 norm1의 출력이 아니라 블록의 입력을 더합니다",
                ("    x = F.layer_norm(x + mixed", "    first = x\n    x = F.layer_norm(x + mixed"), ("x + F.linear(hidden", "first + F.linear(hidden")),
        Mistake("the mask is on the axis of the queries, not on that of the keys", "마스크가 키의 축이 아니라 쿼리의 축에 있습니다", ("keep[:, None, None, :]", "keep[:, None, :, None]")),
    ),
)  # fmt: skip
