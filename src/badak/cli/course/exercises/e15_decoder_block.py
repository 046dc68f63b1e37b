"""The block of a Transformer decoder."""

from badak import nn
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.exercises.blocks import functional, weights
from badak.cli.course.trial import draw
from badak.tensor import arange


def own(x, memory, w, heads):
    layer = nn.TransformerDecoderLayer(x.shape[-1], heads, w["up"].shape[0], dropout=0.0, batch_first=True)
    hide = arange(x.shape[1])[:, None] < arange(x.shape[1])
    return functional(layer, w, {"self_attn": "", "multihead_attn": "memory_"}, x, memory, tgt_mask=hide)


def cases() -> list[Case]:
    return [
        Case(f"B={B}, T={T}, S={S}, C={C}, heads={heads}",
             (draw(B, T, C, grad=True), draw(B, S, C, seed=9, grad=True), weights(C, 3, ("", "memory_")), heads))
        for B, T, S, C, heads in [(1, 1, 1, 4, 1), (1, 3, 3, 4, 2), (2, 3, 5, 8, 2), (2, 4, 2, 8, 4)]
    ]  # fmt: skip


EXERCISE = Exercise(
    title=Both("A block of the decoder", "디코더 블록"),
    text=Both(
        """
Post-norm, without dropout:

x = norm1(x + causal self-attention(x));  x = norm2(x + attention to memory);
x = norm3(x + down(relu(up(x))))

x (B, T, C); memory (B, S, C) from the encoder: queries come from x, keys and values from memory, and
each query sees all of it. w as in exercise 14: q, k, v, o for self-attention; memory_q, memory_k,
memory_v, memory_o for the second one; up, down; scale1 .. shift3. Returns (B, T, C).

You get attention(x, source, w, prefix, heads, causal), which cuts and joins the heads.
""",
        """
post-norm이며 드롭아웃은 없습니다.

x = norm1(x + 인과 셀프 어텐션(x));  x = norm2(x + memory에 대한 어텐션);
x = norm3(x + down(relu(up(x))))

x (B, T, C); 인코더에서 온 memory (B, S, C): 쿼리는 x에서, 키와 밸류는 memory에서 나오며 각 쿼리는
memory 전체를 봅니다. w는 14번 연습과 같습니다: 셀프 어텐션의 q, k, v, o; 두 번째 어텐션의 memory_q,
memory_k, memory_v, memory_o; up, down; scale1 .. shift3. 반환값은 (B, T, C)입니다.

헤드를 나누고 합치는 attention(x, source, w, prefix, heads, causal)이 주어집니다.
""",
    ),
    solution='''\
def attention(x, source, w, prefix, heads, causal):
    def split(y):
        return y.reshape(y.shape[0], y.shape[1], heads, -1).transpose(1, 2)

    q = split(F.linear(x, w[prefix + "q"]))
    k, v = split(F.linear(source, w[prefix + "k"])), split(F.linear(source, w[prefix + "v"]))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return F.linear(out.transpose(1, 2).reshape(x.shape), w[prefix + "o"])


def decoder_block(x, memory, w, heads):
    C = x.shape[-1]
    x = x + attention(x, x, w, "", heads, True)
    x = F.layer_norm(x, (C,), w["scale1"], w["shift1"])
    x = x + attention(x, memory, w, "memory_", heads, False)
    x = F.layer_norm(x, (C,), w["scale2"], w["shift2"])
    hidden = F.linear(x, w["up"]).relu()
    x = x + F.linear(hidden, w["down"])
    return F.layer_norm(x, (C,), w["scale3"], w["shift3"])
''',
    derivation=Both(
        "Training shows the decoder the whole answer at once, so its self-attention must hide the future; memory is the source sentence,\n"
        "known from the start. Queries ask, so they come from the decoder; what is looked up comes from the encoder.",
        "학습할 때는 디코더에 정답 전체를 한꺼번에 보여 주므로 셀프 어텐션이 미래를 가려야 합니다. memory는 처음부터 아는 원문입니다.\n"
        "묻는 쪽인 쿼리는 디코더에서, 찾아보는 키와 밸류는 인코더에서 나옵니다.",
    ),
    hints=(
        Both("Three times: sum, then norm.", "세 번 되풀이합니다: 더하고, 노름."),
        Both('attention(x, x, w, "", heads, True) is the first, attention(x, memory, w, "memory_", heads, False) the second.',
             'attention(x, x, w, "", heads, True)가 첫 번째, attention(x, memory, w, "memory_", heads, False)가 두 번째입니다.'),
        Both("The last part is that of the encoder, with scale3 and shift3.", "마지막 부분은 인코더와 같고 scale3과 shift3을 씁니다."),
    ),
    cases=cases,
    oracle=own,
    given=("attention",),
    mistakes=(
        Mistake("self-attention sees the future", "셀프 어텐션이 미래를 봅니다", ('x, x, w, "", heads, True', 'x, x, w, "", heads, False')),
        Mistake("attention to memory is causal: it hides part of the source", "memory에 대한 어텐션이 인과적이라 원문의 일부를 가립니다", ('"memory_", heads, False', '"memory_", heads, True')),
        Mistake("self-attention is causal where it must not, and attention to memory not where it must: swapped", "인과 마스크가 두 어텐션에서 서로 바뀌었습니다",
                ('x, x, w, "", heads, True', 'x, x, w, "", heads, False'), ('"memory_", heads, False', '"memory_", heads, True')),
        Mistake("the second attention looks at x, not at memory", "두 번째 어텐션이 memory가 아니라 x를 봅니다", ("attention(x, memory, w", "attention(x, x, w")),
        Mistake("the second attention uses the weights of the first", "두 번째 어텐션이 첫 번째의 가중치를 씁니다", ('"memory_"', '""')),
        Mistake("the residual around self-attention is missing", "셀프 어텐션을 건너뛰는 잔차 연결이 없습니다", ("x + attention(x, x", "attention(x, x")),
        Mistake("the residual around attention to memory is missing", "memory 어텐션을 건너뛰는 잔차 연결이 없습니다", ("x + attention(x, memory", "attention(x, memory")),
        Mistake("the residual around the two layers is missing", "두 층을 건너뛰는 잔차 연결이 없습니다", ("x + F.linear(hidden", "F.linear(hidden")),
        Mistake("the attention to memory is missing", "memory에 대한 어텐션이 없습니다", ('    x = x + attention(x, memory, w, "memory_", heads, False)\n    x = F.layer_norm(x, (C,), w["scale2"], w["shift2"])\n', "")),
        Mistake("the first norm is missing", "첫 번째 노름이 없습니다", ('    x = F.layer_norm(x, (C,), w["scale1"], w["shift1"])\n', "")),
        Mistake("the second norm is missing", "두 번째 노름이 없습니다", ('    x = F.layer_norm(x, (C,), w["scale2"], w["shift2"])\n', "")),
        Mistake("the last norm is missing", "마지막 노름이 없습니다", ('F.layer_norm(x, (C,), w["scale3"], w["shift3"])', "x")),
        Mistake("the relu is missing", "relu가 없습니다", (".relu()", "")),
        Mistake("attention to memory comes before self-attention", "memory 어텐션이 셀프 어텐션보다 먼저 옵니다",
                ('attention(x, x, w, "", heads, True)', "FIRST"), ('attention(x, memory, w, "memory_", heads, False)', 'attention(x, x, w, "", heads, True)'),
                ("FIRST", 'attention(x, memory, w, "memory_", heads, False)')),
        Mistake("the norms are in the wrong order", "노름의 순서가 바뀌었습니다", ('"scale1"', '"scaleX"'), ('"scale2"', '"scale1"'), ('"scaleX"', '"scale2"'),
                ('"shift1"', '"shiftX"'), ('"shift2"', '"shift1"'), ('"shiftX"', '"shift2"')),
        Mistake("the norm comes before the sum", "합보다 노름이 먼저입니다",
                ('x + attention(x, x, w, "", heads, True)', 'x + F.layer_norm(attention(x, x, w, "", heads, True), (C,), w["scale1"], w["shift1"])'),
                ('    x = F.layer_norm(x, (C,), w["scale1"], w["shift1"])\n', "")),
        Mistake("one norm is used everywhere", "노름 하나를 모든 곳에 썼습니다", ('"scale2"', '"scale1"'), ('"shift2"', '"shift1"'), ('"scale3"', '"scale1"'), ('"shift3"', '"shift1"')),
        Mistake("in the second attention x and memory are swapped: queries come from x", "두 번째 어텐션에서 x와 memory가 바뀌었습니다: 쿼리는 x에서 옵니다", ("attention(x, memory, w", "attention(memory, x, w")),
    ),
)  # fmt: skip
