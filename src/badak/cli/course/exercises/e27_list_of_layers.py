"""Find what is wrong: layers in a Python list."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.judge import audited, filled
from badak.optim import AdamW
from badak.tensor import randint
from badak.tensor.generator import Generator


def judged(program, count):
    """What the audit finds."""
    model = program.Decoder(7, 8, count)
    ids = randint(0, 7, (2, 5), generator=Generator().manual_seed(count))
    return audited(model, ids, kind="causal", optimizer=AdamW(model.parameters()))


def call(program, count):
    """The sizes of the parameters, and the logits."""
    model = program.Decoder(7, 8, count)
    sizes = sorted(list(w.shape) for w in model.parameters())
    ids = randint(0, 7, (2, 5), generator=Generator().manual_seed(count))
    names = (
        Both("number of parameters", "파라미터의 수"),
        Both("sizes of the parameters", "파라미터의 크기"),
        Both("logits", "로짓"),
    )
    return dict(zip(names, (len(sizes), sizes, filled(model)(ids).detach())))


SOLUTION = """\
class Layer(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.qkv = nn.Linear(channels, 3 * channels)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + F.scaled_dot_product_attention(q, k, v, is_causal=True)


class Decoder(nn.Module):
    def __init__(self, vocab_size, channels, count):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, channels)
        self.position = nn.Embedding(16, channels)
        self.layers = nn.ModuleList([Layer(channels) for _ in range(count)])
        self.head = nn.Linear(channels, vocab_size)

    def forward(self, ids):
        x = self.embedding(ids) + self.position(badak.arange(ids.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
"""

EXERCISE = Exercise(
    function="Decoder",
    title=Both("What is wrong? Layers that never learn", "무엇이 틀렸을까요? 학습되지 않는 층"),
    text=Both(
        """
This decoder runs, and its loss falls a little. But its layers stay as they were initialized,
and its checkpoint is too small. No error is raised. Repair it; keep the names.

badak audit judges it, and the parameters that the model lists.
""",
        """
이 디코더는 실행되고 손실도 조금 줄어듭니다. 그러나 층들이 초기값 그대로이고 체크포인트가 너무 작습니다.
오류는 나지 않습니다. 고치세요. 이름은 그대로 두세요.

badak audit과, 모델이 나열하는 파라미터로 판정합니다.
""",
    ),
    solution=SOLUTION,
    start=SOLUTION.replace("nn.ModuleList([Layer(channels) for _ in range(count)])", "[Layer(channels) for _ in range(count)]"),
    derivation=Both(
        "A Module registers what is assigned to it as an attribute if it is a Parameter or a Module. A list is neither: parameters(), state_dict(),\n"
        "to() and train() do not look into it. nn.ModuleList is a Module that behaves as a list.",
        "Module은 속성으로 대입된 것이 Parameter나 Module이면 등록합니다. 리스트는 둘 다 아니므로 parameters(), state_dict(), to(), train()이\n"
        "그 안을 보지 않습니다. nn.ModuleList는 리스트처럼 쓰는 Module입니다.",
    ),
    hints=(
        Both("How many parameters does Decoder(7, 8, 2) list?", "Decoder(7, 8, 2)가 나열하는 파라미터는 몇 개입니까?"),
        Both("A module registers modules that are its attributes. What is self.layers?", "모듈은 속성인 모듈을 등록합니다. self.layers는 무엇입니까?"),
        Both("nn.ModuleList takes a list.", "nn.ModuleList는 리스트를 받습니다."),
    ),
    cases=lambda: [Case("badak audit", (2,), judged), *[Case(Both(f"{count} layers", f"층 {count}개"), (count,), call) for count in (1, 2, 3)]],
    mistakes=(
        Mistake("the layers are still in a Python list: they are not registered", "층들이 여전히 파이썬 리스트에 있어 등록되지 않습니다", ("nn.ModuleList([Layer(channels) for _ in range(count)])", "[Layer(channels) for _ in range(count)]")),
        Mistake("one layer is used several times: [layer] * count", "층 하나를 여러 번 씁니다: [layer] * count", ("[Layer(channels) for _ in range(count)]", "[Layer(channels)] * count")),
        Mistake("only the first layer is run", "첫 번째 층만 실행합니다", ("            x = layer(x)\n        return", "            x = layer(x)\n            break\n        return")),
        Mistake("the layers are not run", "층들을 실행하지 않습니다", ("            x = layer(x)\n", "            pass\n")),
        Mistake("each layer gets the embedding, not what the layer before gave", "층마다 앞 층의 출력이 아니라 임베딩을 받습니다", ("        for layer in self.layers:\n            x = layer(x)\n", "        first = x\n        for layer in self.layers:\n            x = layer(first)\n")),
        Mistake("the layers are run in reverse", "층들을 거꾸로 실행합니다", ("in self.layers", "in reversed(self.layers)")),
        Mistake("super().__init__() comes too late or is missing", "super().__init__()이 없거나 너무 늦습니다", ("super().__init__()", "pass")),
        Mistake("the layers do not learn: they run without a graph", "층들이 그래프 없이 실행되어 학습되지 않습니다", ("x = layer(x)", "x = layer(x).detach() + 0 * x")),
    ),
)  # fmt: skip
