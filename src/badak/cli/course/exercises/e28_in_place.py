"""Find what is wrong: += in a block."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.judge import filled
from badak.cli.course.trial import draw

SOLUTION = """\
class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.attention = nn.MultiheadAttention(channels, 2, batch_first=True)
        self.norm1 = nn.LayerNorm(channels)
        self.norm2 = nn.LayerNorm(channels)
        self.up = nn.Linear(channels, 4 * channels)
        self.down = nn.Linear(4 * channels, channels)

    def forward(self, x):
        mixed, _ = self.attention(x, x, x, need_weights=False)
        mixed = mixed + x
        mixed = self.norm1(mixed)
        hidden = self.down(self.up(mixed).sigmoid())
        hidden = hidden + mixed
        return self.norm2(hidden)
"""


def call(program, x):
    model = filled(program.Block(x.shape[-1]))
    return model(x)


EXERCISE = Exercise(
    function="Block",
    title=Both("What is wrong? += in a block", "무엇이 틀렸을까요? 블록 안의 +="),
    text=Both(
        """
A block of an encoder with two bugs, from a lesson that cost its author hours. The forward
runs. The backward fails, or the caller's x is changed; and one residual adds the wrong thing.

Repair it: norm1(attention(x) + x), then norm2(down(sigmoid(up(.))) + .). Keep the names.
The message of badak says which line overwrote what, and which operation still needs it.
""",
        """
만든 사람이 몇 시간을 버린, 버그가 두 개 있는 인코더 블록입니다. 순전파는 실행됩니다. 역전파가 실패하거나
호출한 쪽의 x가 바뀌고, 잔차 연결 하나는 엉뚱한 것을 더합니다.

norm1(attention(x) + x), 그 다음 norm2(down(sigmoid(up(.))) + .)이 되도록 고치세요. 이름은 그대로 두세요.
badak의 메시지는 어느 줄이 무엇을 덮어썼고 어떤 연산이 아직 그것을 필요로 하는지 알려 줍니다.
""",
    ),
    solution=SOLUTION,
    start=SOLUTION.replace("mixed = mixed + x", "x += mixed\n        mixed = x").replace("hidden = hidden + mixed\n", "mixed += mixed\n").replace("self.norm2(hidden)", "self.norm2(mixed)"),
    derivation=Both(
        "x += y writes into the memory of x. Operations before it saved x for their backward (linear keeps its input, sigmoid its output); their\n"
        "gradient would be that of other numbers, so backward refuses. x = x + y makes a new tensor. And the residual is f(x) + x:\n"
        "mixed += mixed doubles x, and throws f(x) away.",
        "x += y는 x의 메모리에 씁니다. 그 앞의 연산들이 역전파를 위해 x를 저장해 두었으므로(linear는 입력을, sigmoid는 출력을) 기울기가\n"
        "다른 수의 것이 됩니다. 그래서 역전파가 거부합니다. x = x + y는 새 텐서를 만듭니다. 그리고 잔차는 f(x) + x입니다. mixed += mixed는\n"
        "x를 두 배로 만들고 f(x)를 버립니다.",
    ),
    hints=(
        Both("Write each += as a sum: x = x + y. Which tensors are added at each place?", "+=를 모두 덧셈으로 쓰세요: x = x + y. 각 자리에서 무엇을 더합니까?"),
        Both("Who else holds x? The caller, and attention, which saved it for its backward.", "x를 또 누가 가지고 있습니까? 호출한 쪽과, 역전파를 위해 저장한 어텐션입니다."),
        Both("The second residual adds hidden and mixed.", "두 번째 잔차는 hidden과 mixed를 더합니다."),
    ),
    cases=lambda: [Case(f"x {shape}", (draw(*shape, grad=g),), call) for shape, g in [((1, 3, 4), False), ((2, 3, 4), True), ((2, 5, 8), True)]],
    mistakes=(
        Mistake("+= still writes into the caller's x", "+=가 여전히 호출한 쪽의 x에 씁니다", ("mixed = mixed + x", "x += mixed\n        mixed = x")),
        Mistake("the second residual is mixed + mixed: hidden is thrown away", "두 번째 잔차가 mixed + mixed라 hidden이 버려집니다", ("hidden = hidden + mixed", "hidden = mixed + mixed")),
        Mistake("both bugs are still there", "두 버그가 모두 남아 있습니다", ("mixed = mixed + x", "x += mixed\n        mixed = x"), ("hidden = hidden + mixed", "hidden = mixed + mixed")),
        Mistake("the second residual adds x, not what came out of norm1", "두 번째 잔차가 norm1의 출력이 아니라 x를 더합니다", ("hidden = hidden + mixed", "hidden = hidden + x")),
        Mistake("the first residual is missing", "첫 번째 잔차가 없습니다", ("        mixed = mixed + x\n", "")),
        Mistake("the second residual is missing", "두 번째 잔차가 없습니다", ("        hidden = hidden + mixed\n", "")),
        Mistake("the first residual is x + x: attention is thrown away", "첫 번째 잔차가 x + x라 어텐션이 버려집니다", ("mixed = mixed + x", "mixed = x + x")),
        Mistake("one norm is used twice", "노름 하나를 두 번 썼습니다", ("self.norm2(hidden)", "self.norm1(hidden)")),
        Mistake("detach hides the error, and cuts the gradient", "detach로 오류를 감추어 기울기가 끊어집니다", ("mixed = mixed + x", "mixed = mixed.detach() + x")),
        Mistake("the sum is written into a clone of x whose gradient is cut", "기울기가 끊어진 x의 복사본에 더했습니다", ("mixed = mixed + x", "mixed = mixed + x.detach()")),
    ),
)  # fmt: skip
