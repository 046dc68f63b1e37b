"""Softmax that survives large numbers."""

import math

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, used
from badak.nn import functional as F
from badak.tensor import tensor


def cases() -> list[Case]:
    big = tensor([[1000.0, 1001.0, 999.0], [-1000.0, -1001.0, -1e30]])
    return [
        Case("x (2, 3), dim=-1", (draw(2, 3, grad=True), -1)),
        Case("x (3, 4), dim=0", (draw(3, 4, grad=True), 0)),
        Case("x (2, 3, 4), dim=1", (draw(2, 3, 4, grad=True), 1)),
        Case(Both("large numbers", "큰 수"), (big, -1)),
        Case(
            Both("one large row next to a small one", "큰 수의 행과 작은 수의 행"), (tensor([[300.0, 301.0], [-300.0, -301.0]]), -1)
        ),
        Case(Both("x with -inf, a mask", "-inf가 있는 x(마스크)"), (tensor([[0.5, -math.inf, 2.0]]), -1)),
    ]


EXERCISE = Exercise(
    title=Both("Softmax that survives large numbers", "큰 수에도 무너지지 않는 softmax"),
    text=Both(
        """
softmax(x)[i] = exp(x[i]) / sum_j exp(x[j]) turns scores into weights that sum to 1.

exp(1000) is infinity in float32, and infinity / infinity is NaN. Adding one constant
to all scores changes no weight: choose it such that no exponent is above 0.

x: tensor of any shape. dim: the axis that sums to 1. Returns a tensor of the shape of x.
Use tensor operations (exp, sum, amax with keepdim=True), not badak.softmax.
""",
        """
softmax(x)[i] = exp(x[i]) / sum_j exp(x[j])는 점수를 합이 1인 가중치로 바꿉니다.

float32에서 exp(1000)은 무한대이고, 무한대 / 무한대는 NaN입니다. 모든 점수에 같은 상수를
더해도 가중치는 변하지 않습니다. 지수가 0을 넘지 않도록 그 상수를 고르세요.

x: 임의의 형상의 텐서. dim: 합이 1이 되는 축. 반환값은 x와 형상이 같은 텐서입니다.
badak.softmax 대신 텐서 연산(exp, sum, keepdim=True를 준 amax)을 쓰세요.
""",
    ),
    solution='''\
def softmax(x, dim):
    top = x.amax(dim, keepdim=True)
    e = (x - top).exp()
    return e / e.sum(dim, keepdim=True)
''',
    derivation=Both(
        "exp(x[i] - c) / sum_j exp(x[j] - c) = exp(-c) exp(x[i]) / (exp(-c) sum_j exp(x[j])): exp(-c) cancels. With c = max x the\n"
        "largest term is exp(0) = 1, so the sum is between 1 and n, and what underflows to 0 is below 1e-38 of it.",
        "exp(x[i] - c) / sum_j exp(x[j] - c) = exp(-c) exp(x[i]) / (exp(-c) sum_j exp(x[j]))이고 exp(-c)는 약분됩니다. c = max x로\n"
        "두면 가장 큰 항이 exp(0) = 1이므로 합은 1과 n 사이이고, 0으로 언더플로하는 항은 합의 1e-38보다 작습니다.",
    ),
    hints=(
        Both("Try softmax of [1000, 1001] with the formula as it stands. Which part overflows?",
             "[1000, 1001]을 식 그대로 계산해 보세요. 어느 부분이 넘칩니까?"),
        Both("Subtract the maximum along dim before exp.", "exp 전에 dim 방향의 최댓값을 빼세요."),
        Both("x.amax(dim, keepdim=True) keeps the axis, so that x - it broadcasts; so does the sum.",
             "x.amax(dim, keepdim=True)는 축을 남기므로 x에서 뺄 때 브로드캐스트됩니다. 합도 마찬가지입니다."),
    ),
    cases=cases,
    oracle=lambda x, dim: F.softmax(x, dim),
    mistakes=(
        Mistake("the maximum is not subtracted before exp", "exp 전에 최댓값을 빼지 않았습니다", ("(x - top)", "x")),
        Mistake("the maximum of all numbers is subtracted, not that of each row along dim", "dim 방향이 아니라 전체의 최댓값을 뺐습니다",
                ("x.amax(dim, keepdim=True)", "x.amax()")),
        Mistake("the sum is over all numbers, not along dim", "dim 방향이 아니라 전체를 더했습니다",
                ("e.sum(dim, keepdim=True)", "e.sum()")),
        Mistake("dim is ignored: the last axis sums to 1", "dim을 무시하고 마지막 축의 합을 1로 만들었습니다", ("(dim,", "(-1,")),
        Mistake("dim is ignored: the first axis sums to 1", "dim을 무시하고 첫 번째 축의 합을 1로 만들었습니다", ("(dim,", "(0,")),
        Mistake("the result is not divided by its sum", "합으로 나누지 않았습니다", (" / e.sum(dim, keepdim=True)", "")),
        Mistake("this is the logarithm of softmax", "softmax의 로그입니다",
                ("e / e.sum(dim, keepdim=True)", "x - top - e.sum(dim, keepdim=True).log()")),
        Mistake("the minimum is subtracted, so that exponents are above 0", "최솟값을 빼서 지수가 0보다 커졌습니다", ("amax", "amin")),
        Mistake("the sum has no keepdim=True, so it meets the wrong axis", "합에 keepdim=True가 없어 다른 축과 맞춰집니다",
                ("e.sum(dim, keepdim=True)", "e.sum(dim)")),
        Mistake("exp is missing", "exp가 빠졌습니다", ("(x - top).exp()", "(x - top)")),
        Mistake("it divides by the maximum instead of subtracting it", "최댓값을 빼지 않고 나누었습니다", ("x - top", "x / top")),
    ),
    forbidden=("softmax", "log_softmax", "logsumexp", "log_sum_exp"),
    trial=lambda program: used(program.softmax, "softmax"),
)  # fmt: skip
