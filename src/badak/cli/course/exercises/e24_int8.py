"""int8 quantization."""

import numpy as np

from badak.cli.course.compare import array_of
from badak.cli.course.exercise import Both, Case, Exercise, Mistake, Refused
from badak.cli.course.trial import draw
from badak.core.events import Observer
from badak.tensor import tensor


def call(program, w, x):
    """The quantized rows, and a product with them."""
    with NotNumbers() as watch:
        q, scale = program.quantize(w)
    if watch.found:
        raise Refused(Both("0 / 0 is NaN for a row of zeros, and what int8 makes of NaN depends on the CPU", "0뿐인 행에서 0 / 0은 NaN이고, NaN을 int8로 바꾼 값은 CPU마다 다릅니다"),
                      Both("divide that row by 1, and give its scale as 0", "그 행은 1로 나누고, 스케일은 0으로 반환하세요"))  # fmt: skip
    return {"q": q, "scale": array_of(scale), "y": array_of(program.linear(x, tensor(array_of(q)), tensor(array_of(scale))))}


class NotNumbers(Observer):
    """Whether an operation made integers of NaN."""

    eager = True
    found = False

    def on_op(self, op, saved, inputs, arrays, attributes, outputs):
        if any(y.dtype.kind == "int" for y in outputs):
            self.found = self.found or any(np.isnan(x).any() for x in arrays if x.dtype.kind == "f")


def cases() -> list[Case]:
    half = tensor([[127.0, 0.5, -63.5, 2.5], [-2.54, 1.27, 0.01, 0.03]])
    zeros = tensor([[0.0, 0.0], [3.0, -4.0]])
    return [
        Case("w (2, 3)", (draw(2, 3), draw(1, 3, seed=1)), call),
        Case(
            Both("rows of different size", "크기가 다른 행들"),
            (draw(3, 4) * tensor([[0.01], [1.0], [100.0]]), draw(2, 4, seed=1)),
            call,
        ),
        Case(Both("halves, and the largest number negative", "0.5 단위, 가장 큰 수가 음수"), (half, draw(2, 4, seed=2)), call),
        Case(Both("a row of zeros", "0뿐인 행"), (zeros, draw(2, 2, seed=3)), call),
        Case("w (5, 16), x (2, 3, 16)", (draw(5, 16), draw(2, 3, 16, seed=1)), call),
    ]


EXERCISE = Exercise(
    function="quantize",
    title=Both("int8 quantization", "int8 양자화"),
    text=Both(
        """
Store a weight in a quarter of its memory: each row as 8-bit integers and one scale.

quantize(w), w (N, K) of float32, returns (q, scale): scale (N,) = max |row| / 127, and
q (N, K) of badak.int8 = row / scale rounded to the nearest, ties to even (badak.round).
A row of zeros has scale 0 and q 0.

linear(x, q, scale), x (..., K) of float32, returns y (..., N): x W^T for the W that q and scale
stand for. Scale the result, not the matrix: one product with q as floats, then N factors.
""",
        """
가중치를 메모리의 1/4로 저장합니다: 행마다 8비트 정수와 스케일 하나입니다.

quantize(w)는 float32 w (N, K)에 대해 (q, scale)을 반환합니다. scale (N,) = max |행| / 127이고,
badak.int8인 q (N, K) = 행 / scale을 가장 가까운 정수로 반올림한 것입니다(badak.round, 0.5는 짝수로).
0뿐인 행은 scale이 0, q가 0입니다.

linear(x, q, scale)는 float32 x (..., K)에 대해 y (..., N)를 반환합니다: q와 scale이 나타내는 W에 대한
x W^T입니다. 행렬이 아니라 결과에 배율을 곱하세요. q를 float으로 한 번 곱하고 배율 N개를 곱합니다.
""",
    ),
    solution='''\
def quantize(w):
    largest = w.abs().amax(-1)
    scale = largest / 127
    safe = scale.masked_fill(scale == 0, 1.0)
    q = badak.round(w / safe[:, None]).to(badak.int8)
    return q, scale


def linear(x, q, scale):
    return x @ q.float().T * scale
''',
    derivation=Both(
        "Rounding is off by half a step at most, scale / 2, so y is off by less than sum |x| scale / 2; measured, it is far less, since errors of\n"
        "either sign cancel. A scale for each row costs N numbers and keeps small rows next to large ones. (x q^T)[n] scale[n] =\n"
        "sum_k x[k] q[n, k] scale[n]: the scale does not depend on k, so it comes out of the sum.",
        "반올림 오차는 많아야 반 계단, scale / 2이므로 y의 오차는 sum |x| scale / 2보다 작고, 부호가 섞여 상쇄되므로 실제로는 훨씬 작습니다.\n"
        "행마다 스케일을 두면 수 N개로 큰 행 옆의 작은 행을 살립니다. (x q^T)[n] scale[n] = sum_k x[k] q[n, k] scale[n]: 스케일은 k에\n"
        "의존하지 않으므로 합 밖으로 나옵니다.",
    ),
    hints=(
        Both("w.abs().amax(-1) is the largest size in each row.", "w.abs().amax(-1)이 각 행에서 가장 큰 절댓값입니다."),
        Both("Divide each row by its own scale: scale[:, None]. Where the scale is 0 divide by 1.", "각 행을 자기 스케일로 나누세요: scale[:, None]. 스케일이 0이면 1로 나눕니다."),
        Both("Round before .to(badak.int8): the cast cuts towards zero.", ".to(badak.int8) 전에 반올림하세요. 형 변환은 0 쪽으로 자릅니다."),
    ),
    cases=cases,
    mistakes=(
        Mistake("it divides by 128, not by 127", "127이 아니라 128로 나누었습니다", ("/ 127", "/ 128")),
        Mistake("it divides by 255: a sign needs half of the steps", "255로 나누었습니다: 부호 때문에 계단의 절반만 쓸 수 있습니다", ("/ 127", "/ 255")),
        Mistake("there is no rounding: the cast cuts towards zero", "반올림하지 않아 형 변환이 0 쪽으로 자릅니다", ("badak.round(w / safe[:, None])", "(w / safe[:, None])")),
        Mistake("it rounds down (floor), not to the nearest", "가장 가까운 정수가 아니라 내림(floor)했습니다", ("badak.round(", "badak.floor(")),
        Mistake("it rounds halves up, not to even", "0.5를 짝수가 아니라 위로 올렸습니다", ("badak.round(w / safe[:, None])", "badak.floor(w / safe[:, None] + 0.5)")),
        Mistake("there is one scale for the whole matrix, not one for each row", "행마다가 아니라 행렬 전체에 스케일이 하나입니다", ("w.abs().amax(-1)", "w.abs().amax().expand(len(w))")),
        Mistake("the absolute value is missing: a large negative number overflows", "절댓값이 없어 큰 음수가 넘칩니다", ("w.abs().amax", "w.amax")),
        Mistake("a row of zeros gets the scale 1", "0뿐인 행의 스케일이 1입니다", ("return q, scale", "return q, safe")),
        Mistake("the scale is upside down: 127 / max", "스케일이 127 / max로 뒤집혔습니다", ("return q, scale", "return q, 127 / largest")),
        Mistake("linear does not multiply by the scale", "linear가 스케일을 곱하지 않습니다", (" * scale\n", "\n")),
        Mistake("linear divides by the scale", "linear가 스케일로 나눕니다", ("q.float().T * scale", "q.float().T / scale.masked_fill(scale == 0, 1.0)")),
        Mistake("q stays a float", "q가 float으로 남았습니다", (".to(badak.int8)", "")),
        Mistake("q is of another integer type, which takes more memory", "q가 메모리를 더 쓰는 다른 정수 타입입니다", (".to(badak.int8)", ".to(badak.int32)")),
        Mistake("the scale is a mean of |w|, not its maximum", "스케일이 |w|의 최댓값이 아니라 평균입니다", ("w.abs().amax(-1)", "w.abs().mean(-1)")),
        Mistake("q uses only 15 steps: that is int4", "q가 15계단만 씁니다: int4입니다", ("/ 127", "/ 7")),
        Mistake("a row of zeros is divided by its scale, 0", "0뿐인 행을 스케일 0으로 나누었습니다", ("safe = scale.masked_fill(scale == 0, 1.0)", "safe = scale")),
        Mistake("a small number is added to the scale, which moves the rounding", "스케일에 작은 수를 더해 반올림이 달라집니다", ("safe = scale.masked_fill(scale == 0, 1.0)", "safe = scale + 1e-8")),
        Mistake("the maximum is that of the columns, not of the rows", "행이 아니라 열의 최댓값입니다", ("w.abs().amax(-1)", "w.abs().amax(0)")),
        Mistake("scale keeps the second axis: it is (N, 1), not (N,)", "scale에 두 번째 축이 남아 (N,)이 아니라 (N, 1)입니다", ("return q, scale", "return q, scale[:, None]")),
    ),
)  # fmt: skip
