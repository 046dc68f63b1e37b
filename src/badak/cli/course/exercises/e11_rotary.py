"""Rotary positions."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import C, H, draw, trained
from badak.nn.position import RotaryEmbedding

OWN = {"rotate": lambda x: RotaryEmbedding(C // H)(x)}

EXERCISE = Exercise(
    title=Both("Rotary positions", "로터리 위치 임베딩"),
    text=Both(
        """
Each pair of channels of a query or key turns by an angle that grows with its position t:

angle[t, i] = t / base^(2i / D),   (a, b) -> (a cos - b sin, b cos + a sin)

Pair i is the channels i and i + D / 2: a = x[..., :D/2], b = x[..., D/2:], as in LLaMA.
x (..., T, D), D even. Returns the same shape. Row t stands at position t.
""",
        """
쿼리나 키의 채널 쌍마다 위치 t에 비례하는 각도만큼 회전합니다.

angle[t, i] = t / base^(2i / D),   (a, b) -> (a cos - b sin, b cos + a sin)

쌍 i는 채널 i와 i + D / 2입니다. LLaMA처럼 a = x[..., :D/2], b = x[..., D/2:]입니다.
x (..., T, D), D는 짝수입니다. 반환값의 형상은 x와 같습니다. 행 t의 위치는 t입니다.
""",
    ),
    solution='''\
def rotary(x, base=10000.0):
    T, D = x.shape[-2:]
    frequency = base ** (-badak.arange(0, D, 2) / D)
    angle = badak.arange(T)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., : D // 2], x[..., D // 2 :]
    return badak.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
''',
    derivation=Both(
        "R(t) turns by the angle t f. (R(s) q) . (R(t) k) = q . R(s)^T R(t) k = q . R(t - s) k: the score depends on the distance alone.\n"
        "A rotation keeps lengths, so scores stay as large as before.",
        "R(t)는 각 t f만큼 돌립니다. (R(s) q) . (R(t) k) = q . R(s)^T R(t) k = q . R(t - s) k이므로 점수는 거리에만 의존합니다.\n"
        "회전은 길이를 바꾸지 않으므로 점수의 크기도 그대로입니다.",
    ),
    hints=(
        Both("The table of angles is (T, D / 2): positions times frequencies.", "각도의 표는 (T, D / 2)이며 위치와 주파수의 곱입니다."),
        Both("Split the channels in two halves a and b, turn, and join them.", "채널을 두 절반 a와 b로 나누어 돌린 뒤 이어 붙이세요."),
        Both("badak.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).", "badak.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)."),
    ),
    cases=lambda: [Case(f"x {shape}, base={base:g}", (draw(*shape, grad=True), base))
                   for shape, base in [((1, 4), 1e4), ((5, 2), 1e4), ((3, 8), 1e4), ((2, 3, 6, 4), 1e4), ((2, 9, 8), 100.0)]],
    oracle=lambda x, base=10000.0: RotaryEmbedding(x.shape[-1], base=base)(x),
    mistakes=(
        Mistake("the pairs are neighbours, 2i and 2i + 1, not the two halves", "쌍이 두 절반이 아니라 이웃한 2i와 2i + 1입니다",
                ("x[..., : D // 2], x[..., D // 2 :]", "x[..., 0::2], x[..., 1::2]"),
                ("badak.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)", "badak.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)")),
        Mistake("neighbours are paired, and put back as halves", "이웃을 쌍으로 삼고는 절반으로 되돌려 놓았습니다", ("x[..., : D // 2], x[..., D // 2 :]", "x[..., 0::2], x[..., 1::2]")),
        Mistake("it turns the other way: a sign is wrong", "반대 방향으로 돕니다: 부호가 틀렸습니다", ("a * cos - b * sin, b * cos + a * sin", "a * cos + b * sin, b * cos - a * sin")),
        Mistake("both halves have a plus: that is no rotation", "두 절반 모두 더하기라 회전이 아닙니다", ("a * cos - b * sin", "a * cos + b * sin")),
        Mistake("both halves have a minus: that is no rotation", "두 절반 모두 빼기라 회전이 아닙니다", ("b * cos + a * sin", "b * cos - a * sin")),
        Mistake("positions start at 1", "위치가 1에서 시작합니다", ("badak.arange(T)", "badak.arange(1, T + 1)")),
        Mistake("the exponent is i / D, not 2i / D", "지수가 2i / D가 아니라 i / D입니다", ("badak.arange(0, D, 2)", "badak.arange(D // 2)")),
        Mistake("base is not used: 10000 is written in", "base를 쓰지 않고 10000을 썼습니다", ("base **", "10000.0 **")),
        Mistake("the sign of the exponent is wrong", "지수의 부호가 반대입니다", ("(-badak", "(badak")),
        Mistake("cos and sin are swapped", "cos와 sin이 바뀌었습니다", ("cos, sin = angle", "sin, cos = angle")),
        Mistake("the halves are joined in the wrong order", "두 절반을 이어 붙이는 순서가 바뀌었습니다", ("[a * cos - b * sin, b * cos + a * sin]", "[b * cos + a * sin, a * cos - b * sin]")),
        Mistake("the second half is not turned", "뒤쪽 절반을 돌리지 않았습니다", ("b * cos + a * sin", "b")),
        Mistake("all pairs turn with the same frequency", "모든 쌍이 같은 주파수로 돕니다", ("* frequency", "* frequency[0] * badak.ones(D // 2)")),
        Mistake("the position is added to x, not turned by", "위치만큼 돌리지 않고 x에 더했습니다", ("a * cos - b * sin, b * cos + a * sin", "a + cos, b + sin")),
        Mistake("T is taken from axis 1, not from the one before the last", "T를 끝에서 두 번째 축이 아니라 축 1에서 가져왔습니다", ("T, D = x.shape[-2:]", "T, D = x.shape[1], x.shape[-1]")),
    ),
    trial=lambda program: trained({"rotate": program.rotary}, OWN),
)  # fmt: skip
