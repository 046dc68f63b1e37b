"""Scaled dot-product attention."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw, trained
from badak.nn import functional as F
from badak.tensor import arange, tensor


def cases() -> list[Case]:
    def qkv(*shape, keys=None, width=None):
        S, E = keys or shape[-2], width or shape[-1]
        k, v = (*shape[:-2], S, shape[-1]), (*shape[:-2], S, E)
        return draw(*shape, grad=True), draw(*k, seed=1, grad=True), draw(*v, seed=2, grad=True)

    causal = arange(5)[:, None] >= arange(5)
    padding = tensor([[True, True, True, True], [True, True, False, False]])[:, None, None, :]
    return [
        Case("q, k, v (2, 3, 4), keep=None", (*qkv(2, 3, 4), None)),
        Case(
            Both("3 queries, 5 keys, values of 6 channels", "쿼리 3개, 키 5개, 밸류의 채널 6개"),
            (*qkv(2, 3, 4, keys=5, width=6), None),
        ),
        Case(
            Both("q, k, v (2, 2, 5, 4), causal keep (5, 5)", "q, k, v (2, 2, 5, 4), 인과 마스크 keep (5, 5)"),
            (*qkv(2, 2, 5, 4), causal),
        ),
        Case(Both("padding: keep (2, 1, 1, 4)", "패딩: keep (2, 1, 1, 4)"), (*qkv(2, 3, 4, 8), padding)),
        Case(Both("large scores", "큰 점수"), (*(x.detach() * 60 for x in qkv(1, 4, 4)), None)),
        Case("D = 16", (*qkv(2, 4, 16), arange(4)[:, None] >= arange(4))),
    ]


EXERCISE = Exercise(
    title=Both("Scaled dot-product attention", "스케일드 닷프로덕트 어텐션"),
    text=Both(
        """
out = softmax(q k^T / sqrt(D)) v: each query takes a weighted mean of the values.

q (..., T, D), k (..., S, D), v (..., S, E). Returns (..., T, E).
keep: None, or a bool tensor that broadcasts to (..., T, S), True = attend. A key that is
not kept gets the weight 0, and the others still sum to 1.

You may use F.softmax; not F.scaled_dot_product_attention.
""",
        """
out = softmax(q k^T / sqrt(D)) v: 각 쿼리는 밸류의 가중 평균을 가져옵니다.

q (..., T, D), k (..., S, D), v (..., S, E). 반환값은 (..., T, E)입니다.
keep: None이거나 (..., T, S)로 브로드캐스트되는 bool 텐서이며 True = 본다는 뜻입니다.
보지 않는 키의 가중치는 0이고, 나머지 가중치의 합은 여전히 1입니다.

F.softmax는 써도 되지만 F.scaled_dot_product_attention은 쓰지 마세요.
""",
    ),
    solution='''\
def attention(q, k, v, keep=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if keep is not None:
        scores = scores.masked_fill(~keep, -math.inf)
    return F.softmax(scores, dim=-1) @ v
''',
    derivation=Both(
        "With independent q and k of mean 0 and variance 1, q . k is a sum of D products of variance 1: variance D. Divided by sqrt(D) the\n"
        "scores have variance 1 for any D, and softmax is not saturated. exp(-inf) = 0 takes a key out of numerator and denominator,\n"
        "which a weight set to 0 after softmax does not do.",
        "q와 k가 서로 독립이고 평균 0, 분산 1이면 q . k는 분산 1인 곱 D개의 합이므로 분산이 D입니다. sqrt(D)로 나누면 D와 관계없이\n"
        "분산이 1이 되어 softmax가 포화되지 않습니다. exp(-inf) = 0은 분자와 분모 모두에서 키를 빼지만, softmax 뒤에 가중치를 0으로\n"
        "만드는 것은 그렇지 않습니다.",
    ),
    hints=(
        Both("Three lines: scores (..., T, S), weights of the same shape, out (..., T, E).", "세 줄입니다: 점수 (..., T, S), 같은 형상의 가중치, 결과 (..., T, E)."),
        Both("Swap the last two axes of k; divide by the root of the size of the last axis of q.", "k의 마지막 두 축을 바꾸고, q의 마지막 축 크기의 제곱근으로 나누세요."),
        Both("The mask comes before softmax: scores.masked_fill(~keep, -math.inf).", "마스크는 softmax 전에 옵니다: scores.masked_fill(~keep, -math.inf)."),
    ),
    cases=cases,
    oracle=lambda q, k, v, keep=None: F.scaled_dot_product_attention(q, k, v, keep),
    mistakes=(
        Mistake("the scores are not divided by sqrt(D)", "점수를 sqrt(D)로 나누지 않았습니다", (" / math.sqrt(q.shape[-1])", "")),
        Mistake("the scores are divided by D, not by sqrt(D)", "sqrt(D)가 아니라 D로 나누었습니다", ("math.sqrt(q.shape[-1])", "q.shape[-1]")),
        Mistake("the scores are multiplied by sqrt(D)", "sqrt(D)로 나누지 않고 곱했습니다", (" / math", " * math")),
        Mistake("the scale is the root of another axis: the number of queries", "스케일이 다른 축(쿼리의 수)의 제곱근입니다", ("q.shape[-1]", "q.shape[-2]")),
        Mistake("softmax goes over the queries, not over the keys", "softmax를 키가 아니라 쿼리 방향으로 했습니다", ("dim=-1", "dim=-2")),
        Mistake("the mask comes after softmax, so that the weights no longer sum to 1", "마스크가 softmax 뒤에 있어 가중치의 합이 1이 아닙니다",
                ("scores = scores.masked_fill(~keep, -math.inf)", "return F.softmax(scores, dim=-1).masked_fill(~keep, 0.0) @ v")),
        Mistake("the mask is the wrong way round: it hides what it should keep", "마스크가 반대입니다: 보아야 할 것을 가립니다", ("~keep", "keep")),
        Mistake("hidden scores become 0, and 0 is a score like any other: use -inf", "가린 점수를 0으로 두었는데 0도 보통의 점수입니다. -inf를 쓰세요", ("-math.inf", "0.0")),
        Mistake("the mask is added as 0 and 1, which hides nothing", "마스크를 0과 1로 더해서 아무것도 가리지 못합니다",
                ("scores.masked_fill(~keep, -math.inf)", "scores + keep.float()")),
        Mistake("the mask is not used", "마스크를 쓰지 않았습니다", ("if keep is not None", "if False")),
        Mistake("softmax is missing", "softmax가 없습니다", ("F.softmax(scores, dim=-1)", "scores")),
        Mistake("softmax comes before the scale", "스케일보다 softmax를 먼저 했습니다",
                ("scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])\n", "scores = q @ k.transpose(-2, -1)\n"),
                ("F.softmax(scores, dim=-1) @ v", "F.softmax(scores, dim=-1) / math.sqrt(q.shape[-1]) @ v")),
        Mistake("k is not transposed", "k를 전치하지 않았습니다", ("k.transpose(-2, -1)", "k")),
        Mistake("k.T turns all axes, not only the last two", "k.T는 마지막 두 축이 아니라 모든 축을 뒤집습니다", ("k.transpose(-2, -1)", "k.T")),
        Mistake("softmax goes over the first axis, not over the keys", "softmax를 키가 아니라 첫 번째 축 방향으로 했습니다", ("dim=-1", "dim=0")),
    ),
    forbidden=("attention",),
    trial=lambda program: trained({"attend": program.attention}),
)  # fmt: skip
