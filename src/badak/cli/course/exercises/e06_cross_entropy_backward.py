"""The backward of cross entropy, by hand."""

from badak.autograd.differentiate import grad
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, used
from badak.nn import functional as F
from badak.tensor import tensor


def own(dloss, logits, target):
    logits = logits.detach().requires_grad_()
    return grad(F.cross_entropy(logits, target), logits, dloss)[0]


def cases() -> list[Case]:
    return [
        Case(Both("one row of 3 classes", "클래스 3개, 행 하나"), (tensor(1.0), draw(1, 3), tensor([2]))),
        Case(Both("4 rows of 5 classes", "클래스 5개, 행 4개"), (tensor(1.0), draw(4, 5), tensor([0, 4, 2, 2]))),
        Case("dloss = 0.5", (tensor(0.5), draw(3, 4), tensor([1, 0, 3]))),
        Case(
            Both("two of four rows ignored (-100)", "네 행 중 둘을 무시(-100)"),
            (tensor(1.0), draw(4, 3), tensor([1, -100, 2, -100])),
        ),
        Case(Both("large logits", "큰 로짓"), (tensor(1.0), draw(3, 4, scale=300.0), tensor([0, 1, 2]))),
    ]


def trial(program):
    return used(
        lambda dy, logits, target, weight=None, **rest: program.cross_entropy_backward(dy, logits, target), "cross_entropy_backward"
    )


EXERCISE = Exercise(
    title=Both("Backward of cross entropy by hand", "크로스 엔트로피의 역전파를 손으로"),
    text=Both(
        """
loss = mean over rows n of  log(sum_v exp(logits[n, v])) - logits[n, target[n]].

Rows whose target is -100 are padding: they count neither in the sum nor in the number
that the mean divides by, and get the gradient 0.

dloss: a number, the gradient of what comes behind the loss. logits (N, V), target (N,) of
integers. Return dlogits (N, V). You may use F.softmax and F.one_hot.
""",
        """
loss = 행 n에 대한  log(sum_v exp(logits[n, v])) - logits[n, target[n]]의 평균입니다.

target이 -100인 행은 패딩입니다. 합에도, 평균을 내는 개수에도 들어가지 않으며 기울기는 0입니다.

dloss: 수 하나로, 손실 뒤에서 오는 기울기입니다. logits (N, V), 정수 target (N,).
dlogits (N, V)를 반환하세요. F.softmax와 F.one_hot을 써도 됩니다.
""",
    ),
    solution='''\
def cross_entropy_backward(dloss, logits, target):
    keep = target != -100
    p = F.softmax(logits, dim=-1)
    goal = F.one_hot(target.clamp(min=0), logits.shape[-1])
    return dloss * (p - goal) * keep[:, None] / keep.sum()
''',
    derivation=Both(
        "d/dz_v log sum_u exp(z_u) = exp(z_v) / sum_u exp(z_u) = softmax(z)_v, and d/dz_v z_target = [v = target]. So each row has\n"
        "softmax(z) - onehot, and the mean divides by M, the rows that are not ignored.",
        "d/dz_v log sum_u exp(z_u) = exp(z_v) / sum_u exp(z_u) = softmax(z)_v이고 d/dz_v z_target = [v = target]입니다. 따라서 각 행은\n"
        "softmax(z) - onehot이고, 평균은 무시하지 않는 행의 수 M으로 나눕니다.",
    ),
    hints=(
        Both("One row first: the gradient is softmax minus a vector with one 1.", "한 행부터 풀어 보세요: 기울기는 softmax에서 1이 하나 있는 벡터를 뺀 것입니다."),
        Both("Divide by the number of rows that count, not by N.", "N이 아니라 세는 행의 수로 나누세요."),
        Both("F.one_hot refuses -100: clamp it first, and multiply such rows by 0.", "F.one_hot은 -100을 받지 않습니다. 먼저 clamp하고 그런 행에 0을 곱하세요."),
    ),
    cases=cases,
    oracle=own,
    mistakes=(
        Mistake("it divides by all rows, not by those that count", "세는 행이 아니라 모든 행의 수로 나누었습니다", ("keep.sum()", "len(target)")),
        Mistake("it is not divided by the number of rows: the loss is a mean", "행의 수로 나누지 않았습니다: 손실은 평균입니다", (" / keep.sum()", "")),
        Mistake("rows with target -100 have a gradient", "target이 -100인 행에 기울기가 있습니다", (" * keep[:, None]", "")),
        Mistake("rows with target -100 are not ignored, but count as class 0", "target이 -100인 행을 무시하지 않고 클래스 0으로 셌습니다", ("target != -100", "target > -1000")),
        Mistake("dloss is not used", "dloss를 쓰지 않았습니다", ("dloss * (p", "(p")),
        Mistake("the sign is wrong: softmax minus one-hot", "부호가 반대입니다: softmax에서 one-hot을 빼야 합니다", ("(p - goal)", "(goal - p)")),
        Mistake("the one-hot is not subtracted", "one-hot을 빼지 않았습니다", ("(p - goal)", "p")),
        Mistake("it divides by the number of classes", "클래스의 수로 나누었습니다", ("keep.sum()", "logits.shape[-1]")),
        Mistake("it divides by all numbers, rows times classes", "행 곱하기 클래스, 모든 수의 개수로 나누었습니다", ("keep.sum()", "logits.numel()")),
        Mistake("softmax goes over the rows, not over the classes", "softmax를 클래스가 아니라 행 방향으로 했습니다", ("dim=-1", "dim=0")),
        Mistake("exp of the logits is not divided by its sum", "로짓의 exp를 합으로 나누지 않았습니다", ("F.softmax(logits, dim=-1)", "logits.exp()")),
        Mistake("softmax has no maximum subtracted", "softmax에서 최댓값을 빼지 않았습니다", ("F.softmax(logits, dim=-1)", "(logits.exp() / logits.exp().sum(-1, keepdim=True))")),
        Mistake("this is the gradient of -log p by p, not by the logits", "로짓이 아니라 확률에 대한 기울기입니다", ("(p - goal)", "(-goal / p)")),
        Mistake("one_hot is given -100: put another id there first, and take the row out afterwards", "one_hot에 -100이 들어갑니다. 먼저 다른 ID로 바꾸고 나중에 그 행을 빼세요", ("target.clamp(min=0)", "target")),
        Mistake("one_hot does not know the number of classes: it takes the largest target", "one_hot이 클래스의 수를 몰라 가장 큰 target에 맞춥니다", (", logits.shape[-1])", ")")),
    ),
    trial=trial,
)  # fmt: skip
