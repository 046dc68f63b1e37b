"""LoRA."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake, Refused
from badak.cli.course.trial import draw
from badak.core.events import Observer


def call(program, x, w, a, b, alpha):
    """The output, and that of the merged weights."""
    with Products() as products:
        y = program.lora(x, w, a, b, alpha)
    if products.shapes & {tuple(w.shape), tuple(w.shape[::-1])}:
        raise Refused(Both("lora multiplies b and a to a matrix as large as w", "lora가 b와 a를 곱해 w만큼 큰 행렬을 만듭니다"),
                      Both("x a^T first, (..., r), and that times b^T", "먼저 x a^T (..., r)를 구하고, 거기에 b^T를 곱하세요"))  # fmt: skip
    whole = program.merged(w.detach(), a.detach(), b.detach(), alpha)
    return {Both("y of lora", "lora의 y"): y, Both("y of merged", "merged의 y"): x.detach() @ whole.T}


class Products(Observer):
    """The shapes of all matrix products."""

    eager = True

    def __init__(self):
        self.shapes = set()

    def on_op(self, op, saved, inputs, arrays, attributes, outputs):
        if len(inputs) > 1 and inputs[0].ndim > 1 and inputs[1].ndim > 1 and inputs[0].shape != inputs[1].shape:
            self.shapes |= {tuple(y.shape) for y in outputs}


def cases() -> list[Case]:
    rows = [((2, 3), 4, 1, 1.0), ((3, 4), 4, 2, 8.0), ((2, 3, 6), 5, 3, 16.0), ((2, 8), 2, 4, 2.0), ((4, 5), 5, 5, 5.0)]
    return [
        Case(Both(f"x {shape}, {out} outputs, rank={r}, alpha={alpha:g}", f"x {shape}, 출력 {out}개, rank={r}, alpha={alpha:g}"),
             (draw(*shape, grad=True), draw(out, shape[-1], seed=1), draw(r, shape[-1], seed=2, grad=True), draw(out, r, seed=3, grad=True), alpha), call)
        for shape, out, r, alpha in rows
    ]  # fmt: skip


EXERCISE = Exercise(
    title=Both("LoRA", "LoRA"),
    text=Both(
        """
Fine-tune a layer by two small matrices, and let its large one rest.

y = x w^T + (alpha / r) x a^T b^T

x (..., in), w (out, in), a (r, in), b (out, r), r small. The gradient goes to x, a and b.
lora(x, w, a, b, alpha) returns y; make no (out, in) matrix in it.
merged(w, a, b, alpha) returns the one matrix (out, in) that gives the same y: x merged^T.
""",
        """
큰 행렬은 그대로 두고 작은 행렬 둘로 층을 미세 조정합니다.

y = x w^T + (alpha / r) x a^T b^T

x (..., in), w (out, in), a (r, in), b (out, r)이고 r은 작습니다. 기울기는 x, a, b로 갑니다.
lora(x, w, a, b, alpha)는 y를 반환합니다. 그 안에서 (out, in) 행렬을 만들지 마세요.
merged(w, a, b, alpha)는 같은 y를 주는 행렬 하나 (out, in)을 반환합니다: x merged^T.
""",
    ),
    solution='''\
def lora(x, w, a, b, alpha):
    rank = a.shape[0]
    small = x @ a.T
    return x @ w.T + alpha / rank * (small @ b.T)


def merged(w, a, b, alpha):
    rank = a.shape[0]
    return w + alpha / rank * (b @ a)
''',
    derivation=Both(
        "x a^T b^T = x (b a)^T, and b a has rank r at most: in + out numbers for each rank in the place of in out. b starts at 0, so that the model\n"
        "starts as it was. Dividing by r keeps the size of the update, and with it the learning rate, when r changes.",
        "x a^T b^T = x (b a)^T이고 b a의 랭크는 r 이하입니다. in out개가 아니라 랭크마다 in + out개의 수를 학습합니다. b는 0에서 시작하므로\n"
        "모델은 원래대로 시작합니다. r로 나누면 r을 바꾸어도 업데이트의 크기와 학습률이 그대로입니다.",
    ),
    hints=(
        Both("From right to left: x goes through a to r channels, then through b to out.", "x는 a를 지나 r채널이 되고, b를 지나 out채널이 됩니다."),
        Both("r is a.shape[0]; the scale is alpha / r.", "r은 a.shape[0]이고 배율은 alpha / r입니다."),
        Both("merged = w + alpha / r * b a: look at which product has the shape (out, in).", "merged = w + alpha / r * b a: 어떤 곱의 형상이 (out, in)인지 보세요."),
    ),
    cases=cases,
    mistakes=(
        Mistake("the scale is alpha, not alpha / r", "배율이 alpha / r이 아니라 alpha입니다", ("alpha / rank", "alpha")),
        Mistake("there is no scale", "배율이 없습니다", ("alpha / rank * ", "")),
        Mistake("the scale is r / alpha: upside down", "배율이 r / alpha로 뒤집혔습니다", ("alpha / rank", "rank / alpha")),
        Mistake("the scale is 1 / r: alpha is not used", "배율이 1 / r입니다: alpha를 쓰지 않았습니다", ("alpha / rank", "1 / rank")),
        Mistake("the scale is alpha / sqrt(r)", "배율이 alpha / sqrt(r)입니다", ("alpha / rank", "alpha / rank**0.5")),
        Mistake("the rank is taken from another axis", "랭크를 다른 축에서 가져왔습니다", ("a.shape[0]", "a.shape[1]")),
        Mistake("the large matrix is left out", "큰 행렬이 빠졌습니다", ("x @ w.T + ", "")),
        Mistake("the small matrices are left out", "작은 행렬이 빠졌습니다", (" + alpha / rank * (small @ b.T)", "")),
        Mistake("merged has no scale", "merged에 배율이 없습니다", ("w + alpha / rank * (b @ a)", "w + b @ a")),
        Mistake("merged subtracts", "merged가 뺍니다", ("w + alpha", "w - alpha")),
        Mistake("lora subtracts", "lora가 뺍니다", ("x @ w.T + alpha", "x @ w.T - alpha")),
        Mistake("the scale goes over the large matrix, too", "배율이 큰 행렬에도 곱해졌습니다", ("x @ w.T + alpha / rank * (small @ b.T)", "alpha / rank * (x @ w.T + small @ b.T)")),
        Mistake("merged is only the update, without w", "merged가 w 없이 업데이트뿐입니다", ("return w + alpha", "return alpha")),
        Mistake("merged is w, without the update", "merged가 업데이트 없는 w입니다", ("w + alpha / rank * (b @ a)", "w")),
        Mistake("the small part is detached: a and b do not learn", "작은 부분을 detach해서 a와 b가 학습되지 않습니다", ("(small @ b.T)", "(small @ b.T).detach()")),
        Mistake("x is detached before the small part", "작은 부분 앞에서 x를 detach했습니다", ("x @ a.T", "x.detach() @ a.T")),
        Mistake("x is detached before the large matrix: no gradient goes to x through it", "큰 행렬 앞에서 x를 detach해서 그쪽으로 x에 기울기가 가지 않습니다", ("x @ w.T +", "x.detach() @ w.T +")),
        Mistake("the scale is rounded down: alpha // r", "배율을 alpha // r로 내림했습니다", ("alpha / rank", "alpha // rank")),
        Mistake("b and a are multiplied first: the matrix is as large as w", "b와 a를 먼저 곱해 행렬이 w만큼 큽니다", ("(small @ b.T)", "(x @ (b @ a).T)")),
    ),
)  # fmt: skip
