"""Cross entropy with label smoothing."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, trained
from badak.nn import functional as F
from badak.tensor import tensor

EXERCISE = Exercise(
    function="smoothed_loss",
    title=Both("Cross entropy with label smoothing", "레이블 스무딩을 쓴 크로스 엔트로피"),
    text=Both(
        """
The goal of a row is not 1 for the right class and 0 for the others, but with smoothing e

goal[v] = (1 - e) [v = target] + e / V

loss = mean over the rows of  - sum_v goal[v] log softmax(logits)[v]

logits (N, V), target (N,) of integers, smoothing e in [0, 1]. Returns a number, in nats, through
which gradients flow. You may use F.log_softmax; not F.cross_entropy.
""",
        """
행의 목표는 정답 클래스가 1이고 나머지가 0인 것이 아니라, 스무딩 e에 대해 다음과 같습니다.

goal[v] = (1 - e) [v = target] + e / V

loss = 행에 대한  - sum_v goal[v] log softmax(logits)[v]의 평균입니다.

logits (N, V), 정수 target (N,), [0, 1]의 smoothing e. 기울기가 흐르는 수 하나(단위 nat)를 반환하세요.
F.log_softmax는 써도 되지만 F.cross_entropy는 쓰지 마세요.
""",
    ),
    solution='''\
def smoothed_loss(logits, target, smoothing):
    logp = F.log_softmax(logits, dim=-1)
    right = logp.gather(1, target[:, None]).squeeze(1)
    spread = logp.mean(-1)
    return -((1 - smoothing) * right + smoothing * spread).mean()
''',
    derivation=Both(
        "sum_v goal[v] logp[v] = (1 - e) logp[target] + (e / V) sum_v logp[v], and the second part is e times the mean of logp. The loss is\n"
        "smallest where softmax is the goal itself, so logits stay finite; that smallest value is the entropy of the goal, not 0.",
        "sum_v goal[v] logp[v] = (1 - e) logp[target] + (e / V) sum_v logp[v]이고, 둘째 항은 logp의 평균에 e를 곱한 것입니다. 손실은\n"
        "softmax가 goal과 같을 때 가장 작으므로 로짓이 유한하게 남습니다. 그 최솟값은 0이 아니라 goal의 엔트로피입니다.",
    ),
    hints=(
        Both("Start from log-probabilities, and take the one of the target in each row.", "로그 확률에서 시작해 각 행에서 target의 것을 고르세요."),
        Both("The smoothed part is the mean of the log-probabilities over all V classes, the right one included.", "스무딩 부분은 정답을 포함한 V개 클래스 전체의 로그 확률의 평균입니다."),
        Both("logp.gather(1, target[:, None]) picks one number of each row.", "logp.gather(1, target[:, None])이 행마다 수 하나를 고릅니다."),
    ),
    cases=lambda: [Case(f"N={n}, V={v}, smoothing={e:g}", (draw(n, v, grad=True, scale=s), tensor([i * 2 % v for i in range(n)]), e))
                   for n, v, e, s in [(1, 3, 0.0, 1.0), (4, 5, 0.1, 1.0), (3, 4, 1.0, 1.0), (6, 2, 0.3, 1.0), (3, 5, 0.2, 100.0)]],
    oracle=lambda logits, target, smoothing: F.cross_entropy(logits, target, label_smoothing=smoothing),
    mistakes=(
        Mistake("the smoothing goes to the V - 1 wrong classes only", "스무딩이 틀린 클래스 V - 1개에만 갑니다",
                ("logp.mean(-1)", "(logp.sum(-1) - right) / (logp.shape[-1] - 1)")),
        Mistake("e / V stands in the place of e: it is divided by V twice", "e가 아니라 e / V입니다: V로 두 번 나누었습니다", ("smoothing * spread", "smoothing / logp.shape[-1] * spread")),
        Mistake("the smoothed part is a sum over the classes, not a mean", "스무딩 부분이 클래스의 평균이 아니라 합입니다", ("logp.mean(-1)", "logp.sum(-1)")),
        Mistake("the factor 1 - e is missing", "1 - e가 곱해지지 않았습니다", ("(1 - smoothing) * right", "right")),
        Mistake("there is no smoothing", "스무딩이 없습니다", ("((1 - smoothing) * right + smoothing * spread)", "right")),
        Mistake("e and 1 - e are swapped", "e와 1 - e가 바뀌었습니다", ("((1 - smoothing) * right + smoothing * spread)", "(smoothing * right + (1 - smoothing) * spread)")),
        Mistake("the loss is a sum over the rows, not a mean", "손실이 행의 평균이 아니라 합입니다", ("spread).mean()", "spread).sum()")),
        Mistake("the sign is wrong: the loss is negative", "부호가 반대라 손실이 음수입니다", ("return -(", "return (")),
        Mistake("the logarithm is missing: probabilities are used", "로그가 없습니다: 확률을 썼습니다", ("F.log_softmax", "F.softmax")),
        Mistake("softmax is missing: logits are used as log-probabilities", "softmax가 없습니다: 로짓을 로그 확률로 썼습니다", ("F.log_softmax(logits, dim=-1)", "logits")),
        Mistake("the logarithm of softmax overflows: use log_softmax", "softmax의 로그가 무한대가 됩니다: log_softmax를 쓰세요", ("F.log_softmax(logits, dim=-1)", "F.softmax(logits, dim=-1).log()")),
        Mistake("softmax goes over the rows", "softmax를 행 방향으로 했습니다", ("dim=-1)", "dim=0)")),
        Mistake("the loss is in bits, not in nats", "손실의 단위가 nat이 아니라 bit입니다", ("return -", "return -1 / math.log(2) * ")),
        Mistake("the loss is divided by the number of classes, too", "손실을 클래스의 수로도 나누었습니다", ("spread).mean()", "spread).mean() / logits.shape[-1]")),
        Mistake("the result has one number for each row", "결과가 행마다 하나씩입니다", ("spread).mean()", "spread)")),
        Mistake("e is divided by V - 1, and goes to all V classes", "e를 V - 1로 나누어 V개 클래스 모두에 주었습니다", ("logp.mean(-1)", "logp.sum(-1) / (logp.shape[-1] - 1)")),
    ),
    forbidden=("cross_entropy", "cross_entropy_soft"),
    trial=lambda program: trained({"loss": lambda logits, target: program.smoothed_loss(logits, target, 0.1)},
                                  {"loss": lambda logits, target: F.cross_entropy(logits, target, label_smoothing=0.1)}),
)  # fmt: skip
