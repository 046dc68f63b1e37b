"""Find what is wrong: the mask of a language model."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.judge import audited, filled
from badak.tensor import randint
from badak.tensor.generator import Generator


def judged(program, T):
    """What the audit finds."""
    model = filled(program.CharModel(11, 8)).eval()
    return audited(model, randint(0, 11, (2, T), generator=Generator().manual_seed(T)), kind="causal")


def call(program, T):
    """The logits."""
    model = filled(program.CharModel(11, 8)).eval()
    return model(randint(0, 11, (2, T), generator=Generator().manual_seed(T))).detach()


SOLUTION = """\
class CharModel(nn.Module):
    def __init__(self, vocab_size, channels):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, channels)
        self.position = nn.Embedding(16, channels)
        self.q = nn.Linear(channels, channels)
        self.k = nn.Linear(channels, channels)
        self.v = nn.Linear(channels, channels)
        self.norm = nn.LayerNorm(channels)
        self.head = nn.Linear(channels, vocab_size)

    def forward(self, ids):
        T = ids.shape[1]
        x = self.embedding(ids) + self.position(badak.arange(T))
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        mask = badak.ones(T, T).tril()
        scores = scores.masked_fill(mask == 0, -math.inf)
        x = x + F.softmax(scores, dim=-1) @ v
        return self.head(self.norm(x))
"""

EXERCISE = Exercise(
    function="CharModel",
    title=Both("What is wrong? A loss that is too good", "무엇이 틀렸을까요? 지나치게 좋은 손실"),
    text=Both(
        """
This language model reaches a wonderful loss in training, and writes rubbish. No error is
raised. Find the line and repair it; leave the names and everything else as they are.

badak audit judges it: in a causal model, another token at position t must change nothing
before t. `badak audit` does the same for any model of yours.
""",
        """
이 언어 모델은 학습 중 손실이 아주 좋은데, 텍스트를 쓰게 하면 엉망입니다. 오류는 나지 않습니다.
틀린 줄을 찾아 고치세요. 이름과 나머지는 그대로 두세요.

badak audit이 판정합니다: 인과 모델에서 위치 t의 토큰을 바꾸어도 t 앞은 조금도 변하지 않아야 합니다.
`badak audit`은 여러분의 모델도 똑같이 검사합니다.
""",
    ),
    solution=SOLUTION,
    start=SOLUTION.replace("mask == 0", "mask == 1"),
    derivation=Both(
        "tril holds 1 where key <= query, that is what may be seen. masked_fill hides where its argument is True, so that must be mask == 0.\n"
        "With mask == 1 each query sees the future only, in which the answer stands; the last query sees nothing.",
        "tril은 키 <= 쿼리인 곳, 곧 보아도 되는 곳이 1입니다. masked_fill은 True인 곳을 가리므로 mask == 0이어야 합니다. mask == 1이면 각 쿼리는\n"
        "정답이 있는 미래만 보고, 마지막 쿼리는 아무것도 보지 못합니다.",
    ),
    hints=(
        Both("What may query 0 see here? Print the weights after softmax for T = 3.", "여기서 쿼리 0은 무엇을 봅니까? T = 3에서 softmax 뒤의 가중치를 출력해 보세요."),
        Both("tril() is 1 on the diagonal and below it. Rows are queries, columns are keys.", "tril()은 대각선과 그 아래가 1입니다. 행은 쿼리, 열은 키입니다."),
        Both("masked_fill hides where its argument is True.", "masked_fill은 인수가 True인 곳을 가립니다."),
    ),
    cases=lambda: [Case("badak audit", (6,), judged), *[Case(f"T={T}", (T,), call) for T in (3, 6, 9)]],
    mistakes=(
        Mistake("the mask is still the wrong way round: each query sees the future only", "마스크가 여전히 반대라 쿼리가 미래만 봅니다", ("mask == 0", "mask == 1")),
        Mistake("triu in the place of tril: the past is hidden, and the future seen", "tril이 아니라 triu라 과거를 가리고 미래를 봅니다", ("tril()", "triu()")),
        Mistake("there is no mask", "마스크가 없습니다", ("        scores = scores.masked_fill(mask == 0, -math.inf)\n", "")),
        Mistake("a query does not see itself, and the first one sees nothing", "쿼리가 자신을 보지 못하고 첫 쿼리는 아무것도 보지 못합니다", ("tril()", "tril(-1)")),
        Mistake("each query sees the next token, too", "쿼리가 다음 토큰까지 봅니다", ("tril()", "tril(1)")),
        Mistake("hidden scores are 0: they still count", "가린 점수가 0이라 여전히 셉니다", ("-math.inf", "0.0")),
        Mistake("softmax goes over the queries", "softmax를 쿼리 방향으로 했습니다", ("dim=-1) @ v", "dim=-2) @ v")),
        Mistake("the mask comes after softmax, so that the weights do not sum to 1", "마스크가 softmax 뒤에 있어 가중치의 합이 1이 아닙니다",
                ("        scores = scores.masked_fill(mask == 0, -math.inf)\n", ""), ("F.softmax(scores, dim=-1)", "(F.softmax(scores, dim=-1) * mask)")),
    ),
)  # fmt: skip
