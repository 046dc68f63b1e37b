"""AdamW."""

from badak.autograd.grad_mode import no_grad
from badak.cli.course.compare import array_of
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import RATE, draw, trained
from badak.tensor import tensor, zeros_like


def call(program, w, gradients, lr, beta1, beta2, eps, decay):
    """The weights after each of some steps."""
    m, v, out = zeros_like(w), zeros_like(w), []
    for step, g in enumerate(gradients, 1):
        w, m, v = program.adamw(w, g, m, v, step, lr, beta1, beta2, eps, decay)
        out.append(tensor(array_of(w)).clone())
    return {Both("w after each step", "각 스텝 뒤의 w"): out, "m": m, "v": v}


def cases() -> list[Case]:
    sets = [
        (0.1, 0.9, 0.999, 1e-8, 0.0),
        (0.1, 0.9, 0.999, 1e-8, 0.2),
        (0.01, 0.5, 0.9, 1e-8, 0.0),
        (0.1, 0.9, 0.99, 0.1, 0.0),
        (0.3, 0.8, 0.95, 1e-3, 0.5),
    ]
    rows = []
    for steps, (lr, b1, b2, eps, decay) in zip((1, 3, 4, 3, 6), sets):
        gradients = [draw(2, 3, seed=s) for s in range(steps)]
        options = f"lr={lr:g}, betas=({b1:g}, {b2:g}), eps={eps:g}, decay={decay:g}"
        rows.append(Case(Both(f"{steps} steps, {options}", f"{steps}스텝, {options}"),
                         (draw(2, 3, seed=50), gradients, lr, b1, b2, eps, decay), call))  # fmt: skip
    return rows


def trial(program):
    state: dict = {}

    @no_grad()
    def update(step, weights):
        for i, w in enumerate(weights):
            m, v = state.get(i, (zeros_like(w), zeros_like(w)))
            new, m, v = program.adamw(w.detach().clone(), w.grad, m, v, step, RATE, 0.9, 0.999, 1e-8, 0.01)
            state[i] = m, v
            w.copy_(new)

    return trained({"update": update})


EXERCISE = Exercise(
    title=Both("AdamW", "AdamW"),
    text=Both(
        """
One step of AdamW for a weight w with gradient g; step counts from 1.

m = beta1 m + (1 - beta1) g              v = beta2 v + (1 - beta2) g^2
w = w - lr decay w                       weight decay, apart from the gradient
w = w - lr mhat / (sqrt(vhat) + eps)     mhat = m / (1 - beta1^step), vhat = v / (1 - beta2^step)

All of w, g, m, v have one shape. Return the new (w, m, v).
""",
        """
기울기가 g인 가중치 w에 대한 AdamW의 한 스텝입니다. step은 1부터 셉니다.

m = beta1 m + (1 - beta1) g              v = beta2 v + (1 - beta2) g^2
w = w - lr decay w                       기울기와 분리된 가중치 감쇠
w = w - lr mhat / (sqrt(vhat) + eps)     mhat = m / (1 - beta1^step), vhat = v / (1 - beta2^step)

w, g, m, v의 형상은 모두 같습니다. 새 (w, m, v)를 반환하세요.
""",
    ),
    solution='''\
def adamw(w, g, m, v, step, lr, beta1, beta2, eps, decay):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    mhat = m / (1 - beta1**step)
    vhat = v / (1 - beta2**step)
    w = w - lr * decay * w
    w = w - lr * mhat / (vhat**0.5 + eps)
    return w, m, v
''',
    derivation=Both(
        "m starts at 0: after t steps with one g it is (1 - beta1^t) g, so dividing by that gives g. mhat / sqrt(vhat) is about +-1, whatever the\n"
        "scale of g. Decay inside g would be divided by sqrt(vhat) as well, so that weights with large gradients would hardly decay:\n"
        "that is the difference between Adam with L2 and AdamW.",
        "m은 0에서 시작합니다. 같은 g로 t 스텝 뒤에는 (1 - beta1^t) g이므로 그 값으로 나누면 g가 됩니다. mhat / sqrt(vhat)는 g의 크기와\n"
        "관계없이 약 +-1입니다. 감쇠를 g에 넣으면 sqrt(vhat)로도 나누어져 기울기가 큰 가중치는 거의 줄지 않습니다. 이것이 L2를 쓴\n"
        "Adam과 AdamW의 차이입니다.",
    ),
    hints=(
        Both("Write the five lines of the text in their order.", "설명의 다섯 줄을 순서대로 쓰세요."),
        Both("mhat and vhat are only for this step: return m and v as they were before the division.", "mhat과 vhat은 이 스텝에만 씁니다. 나누기 전의 m과 v를 반환하세요."),
        Both("eps is outside the root: vhat**0.5 + eps.", "eps는 제곱근 밖에 있습니다: vhat**0.5 + eps."),
    ),
    cases=cases,
    may_write=True,
    mistakes=(
        Mistake("the bias correction is missing: m and v start at 0", "편향 보정이 없습니다: m과 v는 0에서 시작합니다", ("m / (1 - beta1**step)", "m"), ("v / (1 - beta2**step)", "v")),
        Mistake("the bias correction of m is missing", "m의 편향 보정이 없습니다", ("m / (1 - beta1**step)", "m")),
        Mistake("the bias correction of v is missing", "v의 편향 보정이 없습니다", ("v / (1 - beta2**step)", "v")),
        Mistake("weight decay is added to the gradient (Adam with L2), not apart from it", "가중치 감쇠를 기울기와 분리하지 않고 더했습니다(L2를 쓴 Adam)",
                ("    m = beta1", "    g = g + decay * w\n    m = beta1"), ("    w = w - lr * decay * w\n", "")),
        Mistake("weight decay is not scaled by lr", "가중치 감쇠에 lr을 곱하지 않았습니다", ("lr * decay * w", "decay * w")),
        Mistake("there is no weight decay", "가중치 감쇠가 없습니다", ("    w = w - lr * decay * w\n", "")),
        Mistake("weight decay comes after the step, not before", "가중치 감쇠가 스텝 앞이 아니라 뒤에 있습니다", ("    w = w - lr * decay * w\n", ""), ("    return", "    w = w - lr * decay * w\n    return")),
        Mistake("eps is inside the root", "eps가 제곱근 안에 있습니다", ("(vhat**0.5 + eps)", "((vhat + eps) ** 0.5)")),
        Mistake("eps is missing", "eps가 없습니다", (" + eps", "")),
        Mistake("the root of vhat is missing", "vhat의 제곱근이 없습니다", ("vhat**0.5", "vhat")),
        Mistake("v is made of g, not of its square", "v를 g의 제곱이 아니라 g로 만들었습니다", ("g**2", "g.abs()")),
        Mistake("the corrected m and v are returned, so that they are corrected again", "보정된 m과 v를 반환해서 다음 스텝에 또 보정됩니다", ("return w, m, v", "return w, mhat, vhat")),
        Mistake("the step goes uphill: a plus in the place of minus", "부호가 반대라 손실이 커지는 쪽으로 갑니다", ("w = w - lr * mhat", "w = w + lr * mhat")),
        Mistake("weight decay makes the weights grow", "가중치 감쇠가 가중치를 키웁니다", ("w - lr * decay", "w + lr * decay")),
        Mistake("beta1 and beta2 are swapped", "beta1과 beta2가 바뀌었습니다", ("beta1 * m + (1 - beta1)", "betaX * m + (1 - betaX)"), ("beta2 * v + (1 - beta2)", "beta1 * v + (1 - beta1)"),
                ("betaX", "beta2"), ("1 - beta1**step", "1 - betaY**step"), ("1 - beta2**step", "1 - beta1**step"), ("betaY", "beta2")),
        Mistake("the factor 1 - beta is missing in m and v", "m과 v에 1 - beta가 없습니다", ("(1 - beta1) * g", "g"), ("(1 - beta2) * g**2", "g**2")),
        Mistake("beta and 1 - beta are swapped", "beta와 1 - beta가 바뀌었습니다", ("beta1 * m + (1 - beta1) * g", "(1 - beta1) * m + beta1 * g"), ("beta2 * v + (1 - beta2) * g**2", "(1 - beta2) * v + beta2 * g**2")),
        Mistake("the step is counted from 0 in the bias correction", "편향 보정에서 스텝을 0부터 셉니다", ("**step", "**(step - 1)")),
        Mistake("m is not used: the step goes along g", "m을 쓰지 않고 g를 따라 갑니다", ("lr * mhat", "lr * g")),
    ),
    trial=trial,
)  # fmt: skip
