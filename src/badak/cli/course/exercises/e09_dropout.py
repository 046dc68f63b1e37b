"""Dropout."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import B, C, T, draw, trained
from badak.ops.select import Dropout
from badak.tensor import rand, tensor
from badak.tensor.apply import apply
from badak.tensor.generator import Generator


def own(x, p, training, u):
    return apply(Dropout, x, u >= p, p=p) if training and p else x


def uniform(*shape, seed=0):
    return rand(*shape, generator=Generator().manual_seed(seed))


def cases() -> list[Case]:
    return [
        Case(Both("p=0.5, training", "p=0.5, 학습"), (draw(3, 4, grad=True), 0.5, True, uniform(3, 4))),
        Case(Both("p=0.1, training", "p=0.1, 학습"), (draw(2, 5, 8, grad=True), 0.1, True, uniform(2, 5, 8, seed=1))),
        Case(Both("p=0.8, training", "p=0.8, 학습"), (draw(4, 6, grad=True), 0.8, True, uniform(4, 6, seed=2))),
        Case(
            Both("p=0.25, training, and u is 0.25 somewhere", "p=0.25, 학습, u에 0.25가 있음"),
            (draw(1, 4, grad=True), 0.25, True, tensor([[0.25, 0.1, 0.5, 0.25]])),
        ),
        Case(Both("p=0, training", "p=0, 학습"), (draw(3, 4, grad=True), 0.0, True, uniform(3, 4, seed=3))),
        Case(Both("p=0.5, evaluation", "p=0.5, 평가"), (draw(3, 4, grad=True), 0.5, False, uniform(3, 4, seed=4))),
    ]


def trial(program):
    u = uniform(B, T, C, seed=5)
    return trained({"drop": lambda x: program.dropout(x, 0.1, True, u)}, {"drop": lambda x: own(x, 0.1, True, u)})


EXERCISE = Exercise(
    title=Both("Dropout", "드롭아웃"),
    text=Both(
        """
In training each number of x becomes 0 with probability p, and those that stay are divided
by 1 - p, so that the expected value stays the same. In evaluation x passes unchanged.

x: tensor. p: 0 <= p < 1. training: bool. u: random numbers, uniform in [0, 1), in the
shape of x: a number is dropped where u < p. The gradient flows through those that stay.
""",
        """
학습 중에는 x의 각 수가 확률 p로 0이 되고, 남는 수는 1 - p로 나누어 기댓값을 그대로 둡니다.
평가 중에는 x가 그대로 지나갑니다.

x: 텐서. p: 0 <= p < 1. training: bool. u: x와 형상이 같은 [0, 1)의 균등 난수이며, u < p인
자리의 수가 0이 됩니다. 기울기는 남는 수를 통해 흐릅니다.
""",
    ),
    solution='''\
def dropout(x, p, training, u):
    if not training or p == 0:
        return x
    keep = u >= p
    return x * keep / (1 - p)
''',
    derivation=Both(
        "E[y] = P(u >= p) x / (1 - p) + p 0 = x. Scaling while training ('inverted dropout') leaves nothing to do in evaluation.",
        "E[y] = P(u >= p) x / (1 - p) + p 0 = x입니다. 학습 중에 배율을 곱해 두면(inverted dropout) 평가 때는 할 일이 없습니다.",
    ),
    hints=(
        Both("What is the expected value of a number that is dropped with probability p?", "확률 p로 0이 되는 수의 기댓값은 얼마입니까?"),
        Both("keep = u >= p is the mask; multiply by it and divide by 1 - p.", "keep = u >= p가 마스크입니다. 이를 곱하고 1 - p로 나누세요."),
        Both("Return x itself where training is False.", "training이 False이면 x를 그대로 반환하세요."),
    ),
    cases=cases,
    oracle=own,
    mistakes=(
        Mistake("what stays is not divided by 1 - p", "남는 수를 1 - p로 나누지 않았습니다", (" / (1 - p)", "")),
        Mistake("what stays is divided by p", "남는 수를 p로 나누었습니다", ("/ (1 - p)", "/ p")),
        Mistake("what stays is multiplied by 1 - p", "남는 수에 1 - p를 곱했습니다", ("/ (1 - p)", "* (1 - p)")),
        Mistake("the mask is the wrong way round: it keeps where u < p", "마스크가 반대입니다: u < p인 수를 남깁니다", ("u >= p", "u < p")),
        Mistake("it keeps with probability p, as if p were the share that stays", "p를 남는 비율로 보고 확률 p로 남겼습니다",
                ("u >= p", "u < p"), ("/ (1 - p)", "/ p")),
        Mistake("it drops in evaluation, too", "평가 중에도 0으로 만듭니다", ("not training or p == 0", "p == 0")),
        Mistake("in evaluation x is multiplied by 1 - p, as in the older form", "예전 방식처럼 평가 중에 x에 1 - p를 곱했습니다",
                ("        return x\n", "        return x * (1 - p)\n")),
        Mistake("the older form: it scales in evaluation, and not in training", "예전 방식: 학습이 아니라 평가 때 배율을 곱했습니다",
                ("        return x\n", "        return x * (1 - p)\n"), (" / (1 - p)", "")),
        Mistake("training is the wrong way round", "training이 반대입니다", ("if not training", "if training")),
        Mistake("the mask is returned, not x", "x가 아니라 마스크를 반환했습니다", ("x * keep", "keep")),
        Mistake("whole rows are dropped, not single numbers", "수 하나가 아니라 행 전체를 0으로 만들었습니다", ("keep = u >= p", "keep = u[..., :1] >= p")),
        Mistake("it draws its own random numbers and does not use u", "u를 쓰지 않고 난수를 새로 뽑았습니다", ("u >= p", "badak.rand(x.shape, generator=badak.Generator().manual_seed(9)) >= p")),
        Mistake("nothing is dropped", "아무것도 0으로 만들지 않았습니다", ("    return x * keep / (1 - p)", "    return x")),
        Mistake("what is dropped is u <= p: where u is p, the number stays", "u <= p인 수를 0으로 만듭니다. u가 p와 같은 수는 남아야 합니다", ("u >= p", "u > p")),
    ),
    trial=trial,
)  # fmt: skip
