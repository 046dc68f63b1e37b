"""Tied weights: one matrix for the embedding and for the logits."""

from types import ModuleType

from badak.autograd.grad_mode import no_grad
from badak.cli.course.exercise import Both, Case, Exercise, Mistake
from badak.cli.course.trial import draw
from badak.nn import functional as F
from badak.tensor import tensor


def call(program: ModuleType, V: int, C: int, ids, target):
    """Sizes of the parameters, logits, the loss, and the gradient and logits after a step, of a model with fixed weights."""
    model = program.TiedModel(V, C)
    weights = list(model.parameters())
    with no_grad():
        for i, w in enumerate(weights):
            w.copy_(draw(*w.shape, seed=i))
    logits = model(ids)
    loss = F.cross_entropy(logits.reshape(-1, V), target.reshape(-1))
    loss.backward()
    gradients = [w.grad is not None for w in weights]
    slope = sum((w.grad for w in weights if w.grad is not None), tensor(0.0)) if all(gradients) else tensor(0.0)
    with no_grad():
        for w in weights:
            if w.grad is not None:
                w -= 0.5 * w.grad
    return {
        Both("number of parameters", "파라미터의 수"): len(weights),
        Both("sizes of the parameters", "파라미터의 크기"): [list(w.shape) for w in weights],
        Both("logits", "로짓"): logits.detach(),
        Both("which parameters get a gradient", "기울기를 받는 파라미터"): gradients,
        Both("the gradient of w", "w의 기울기"): slope,
        Both("logits after a step", "한 스텝 뒤의 로짓"): model(ids).detach(),
    }


def cases() -> list[Case]:
    sizes = [(5, 3, [[0, 4]]), (7, 4, [[1, 1, 6], [0, 2, 3]]), (6, 6, [[5, 0, 2]])]
    return [Case(f"V={V}, C={C}, ids {ids}", (V, C, tensor(ids), (tensor(ids) + 1) % V), call) for V, C, ids in sizes]


EXERCISE = Exercise(
    function="TiedModel",
    title=Both("Tied weights", "가중치 공유"),
    text=Both(
        """
A model whose embedding and head share one matrix w (V, C), as in GPT-2:

x = w[ids] (B, T, C),   y = x + tanh(x),   logits = y w^T (B, T, V)

Write class TiedModel(nn.Module) with __init__(self, vocab_size, channels) and forward(self, ids). It has
exactly one parameter, w. What the model learns as a head must change the embedding, too.
""",
        """
GPT-2처럼 임베딩과 헤드가 행렬 w (V, C) 하나를 공유하는 모델입니다.

x = w[ids] (B, T, C),   y = x + tanh(x),   logits = y w^T (B, T, V)

__init__(self, vocab_size, channels)와 forward(self, ids)가 있는 class TiedModel(nn.Module)을 쓰세요.
파라미터는 w 하나뿐입니다. 헤드로서 학습한 것은 임베딩도 바꾸어야 합니다.
""",
    ),
    solution='''\
class TiedModel(nn.Module):
    def __init__(self, vocab_size, channels):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, channels)
        self.head = nn.Linear(channels, vocab_size, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids)
        y = x + x.tanh()
        return self.head(y)
''',
    derivation=Both(
        "w is used twice, so its gradient is the sum of two: dw = scatter(dx) + dlogits^T y. Parameters are listed once for each tensor, so\n"
        "an optimizer sees one. A copy (clone, detach, .data) is another tensor: equal at first, and apart after one step.",
        "w는 두 번 쓰이므로 기울기는 둘의 합입니다: dw = scatter(dx) + dlogits^T y. 파라미터는 텐서마다 한 번 나열되므로 옵티마이저는\n"
        "하나를 봅니다. 복사본(clone, detach, .data)은 다른 텐서라 처음에는 같아도 한 스텝 뒤에는 달라집니다.",
    ),
    hints=(
        Both("nn.Embedding has a weight (V, C), and so has nn.Linear(C, V).", "nn.Embedding의 weight는 (V, C)이고 nn.Linear(C, V)의 weight도 그렇습니다."),
        Both("Assign the parameter itself, not a copy: self.head.weight = self.embedding.weight.", "복사본이 아니라 파라미터 자체를 대입하세요: self.head.weight = self.embedding.weight."),
        Both("The head has no bias: a bias would be a second parameter.", "헤드에는 bias가 없습니다. 있으면 두 번째 파라미터가 됩니다."),
    ),
    cases=cases,
    mistakes=(
        Mistake("embedding and head hold two parameters, which learn apart: not tied, or tied to a copy", "임베딩과 헤드의 파라미터가 둘이라 따로 학습합니다: 공유하지 않았거나 복사본을 공유했습니다", ("        self.head.weight = self.embedding.weight\n", "")),
        Mistake("the head has a bias", "헤드에 bias가 있습니다", (", bias=False", "")),
        Mistake("the head uses the weights detached: it sends no gradient to them", "헤드가 detach한 가중치를 써서 기울기를 보내지 않습니다", ("self.head(y)", "F.linear(y, self.embedding.weight.detach())")),
        Mistake("the embedding is detached: it sends no gradient", "임베딩을 detach해서 기울기를 보내지 않습니다", ("self.embedding(ids)", "self.embedding(ids).detach()")),
        Mistake("the tanh is missing", "tanh가 없습니다", ("x + x.tanh()", "x")),
        Mistake("the sum with x is missing", "x와의 합이 없습니다", ("x + x.tanh()", "x.tanh()")),
        Mistake("the logits are scaled by 1 / sqrt(C)", "로짓에 1 / sqrt(C)를 곱했습니다", ("return self.head(y)", "return self.head(y) / y.shape[-1] ** 0.5")),
        Mistake("the embedding is scaled by sqrt(C)", "임베딩에 sqrt(C)를 곱했습니다", ("self.embedding(ids)\n", "self.embedding(ids) * self.embedding.weight.shape[1] ** 0.5\n")),
        Mistake("softmax stands behind the logits", "로짓 뒤에 softmax가 있습니다", ("return self.head(y)", "return self.head(y).softmax(-1)")),
        Mistake("y is x + relu(x), not x + tanh(x)", "y가 x + tanh(x)가 아니라 x + relu(x)입니다", ("x.tanh()", "x.relu()")),
        Mistake("the weight is a plain tensor, not a parameter", "weight가 파라미터가 아니라 보통 텐서입니다",
                ("        self.embedding = nn.Embedding(vocab_size, channels)\n", "        self.w = badak.zeros(vocab_size, channels)\n"),
                ("        self.head = nn.Linear(channels, vocab_size, bias=False)\n        self.head.weight = self.embedding.weight\n", ""),
                ("self.embedding(ids)", "self.w[ids]"), ("self.head(y)", "y @ self.w.T")),
        Mistake("embedding and head hold two parameters that share the first values only: .data is not tied", "임베딩과 헤드가 첫 값만 같은 두 파라미터입니다: .data로는 공유되지 않습니다", ("self.head.weight = self.embedding.weight", "self.head.weight.data = self.embedding.weight.data")),
    ),
)  # fmt: skip
