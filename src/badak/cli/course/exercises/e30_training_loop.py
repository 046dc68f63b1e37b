"""Find what is wrong: a training loop."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake, Refused
from badak.cli.course.judge import watched
from badak.cli.course.trial import TinyModel, V, batch
from badak.nn import functional as F
from badak.optim import AdamW
from badak.tensor.generator import Generator
from badak.tensor.random import fork_rng, manual_seed

STEPS = 6


def judged(program, seed):
    """The same under the eyes of badak.doctor."""
    return call(program, seed, lambda train: watched(train, STEPS))


def call(program, seed, run=lambda train: train()):
    """The losses, and how the model does at the end."""
    with fork_rng():
        manual_seed(seed)
        model, draw = TinyModel({}), Generator().manual_seed(seed)
        batches = [(ids[:, :-1], ids[:, 1:]) for ids in (batch(draw) for _ in range(STEPS))]
        optimizer = AdamW(model.parameters(), lr=1e-2)
        made = run(lambda: program.train(model, optimizer, batches))
        inputs, labels = batches[0]
        end = F.cross_entropy(model(inputs).reshape(-1, V), labels.reshape(-1)).detach()
    if any(hasattr(x, "requires_grad") and x.requires_grad for x in made or []):
        raise Refused(Both("the losses still hold their graphs, and all memory of each step", "손실이 그래프와 각 스텝의 메모리를 붙들고 있습니다"),
                      Both("loss.item() is the number alone", "loss.item()은 수만 줍니다"))  # fmt: skip
    names = (
        Both("the losses", "손실"),
        Both("training mode afterwards", "끝난 뒤의 학습 모드"),
        Both("the loss at the end", "마지막 손실"),
    )
    return dict(zip(names, (made, model.training, end)))


SOLUTION = """\
def train(model, optimizer, batches):
    model.train()
    losses = []
    for inputs, labels in batches:
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
"""

EXERCISE = Exercise(
    function="train",
    title=Both("What is wrong? A training loop", "무엇이 틀렸을까요? 학습 루프"),
    text=Both(
        """
This loop has three bugs, and none raises an error. Repair them: the losses must be those of plain
training, returned as a list of floats. Keep the names.

badak doctor judges it, as it does for any program: badak doctor train.py.
inputs and labels (B, T) of integers; the model returns logits (B, T, V).
""",
        """
이 루프에는 버그가 세 개 있고 어느 것도 오류를 내지 않습니다. 고치세요. 보통의 학습과 손실이 같아야 하며
float의 리스트로 반환합니다. 이름은 그대로 두세요.

badak doctor가 판정합니다. 다른 프로그램도 badak doctor train.py로 검사할 수 있습니다.
정수 inputs와 labels (B, T); 모델은 로짓 (B, T, V)을 반환합니다.
""",
    ),
    solution=SOLUTION,
    start=SOLUTION.replace("        optimizer.zero_grad()\n", "").replace("logits = model(inputs)", "logits = F.softmax(model(inputs), dim=-1)").replace("loss.item()", "loss"),
    derivation=Both(
        "backward adds to .grad, so without zero_grad each step goes along the sum of all gradients so far. cross_entropy takes logits: of\n"
        "probabilities it takes softmax once more, and its loss cannot fall below log(1 + (V - 1) / e). A loss kept as a tensor keeps its\n"
        "graph, and with it all activations of the step.",
        "backward는 .grad에 더하므로 zero_grad가 없으면 스텝마다 지금까지의 기울기의 합을 따라갑니다. cross_entropy는 로짓을 받습니다.\n"
        "확률을 주면 softmax를 한 번 더 하므로 손실이 log(1 + (V - 1) / e) 아래로 내려가지 못합니다. 텐서로 남긴 손실은 그래프와 그\n"
        "스텝의 모든 활성값을 붙들고 있습니다.",
    ),
    hints=(
        Both("What is in .grad when the second backward begins?", "두 번째 backward가 시작될 때 .grad에는 무엇이 있습니까?"),
        Both("What does cross_entropy take: logits or probabilities?", "cross_entropy는 로짓과 확률 중 무엇을 받습니까?"),
        Both("What else lives as long as a loss tensor is in a list?", "손실 텐서가 리스트에 있는 동안 또 무엇이 살아 있습니까?"),
    ),
    cases=lambda: [Case("badak doctor", (0,), judged), *[Case(f"seed {seed}", (seed,), call) for seed in (1, 2)]],
    tolerance=2e-2,
    mistakes=(
        Mistake("the gradients are not cleared between the steps", "스텝 사이에 기울기를 지우지 않습니다", ("        optimizer.zero_grad()\n", "")),
        Mistake("softmax stands before cross_entropy, which takes it itself", "cross_entropy 앞에 softmax가 있습니다: cross_entropy가 스스로 합니다", ("logits = model(inputs)", "logits = F.softmax(model(inputs), dim=-1)")),
        Mistake("the losses are kept as tensors, with their graphs", "손실을 그래프가 달린 텐서로 남겼습니다", ("loss.item()", "loss")),
        Mistake("gradients are cleared between backward and step: nothing is learned", "backward와 step 사이에서 기울기를 지워 아무것도 학습하지 않습니다",
                ("        optimizer.zero_grad()\n", ""), ("        optimizer.step()\n", "        optimizer.zero_grad()\n        optimizer.step()\n")),
        Mistake("there is no step", "step이 없습니다", ("        optimizer.step()\n", "")),
        Mistake("there is no backward", "backward가 없습니다", ("        loss.backward()\n", "")),
        Mistake("the step comes before the backward", "step이 backward보다 먼저입니다", ("        loss.backward()\n        optimizer.step()\n", "        optimizer.step()\n        loss.backward()\n")),
        Mistake("each batch is trained on twice", "배치마다 두 번 학습합니다", ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.step()\n")),
        Mistake("the model is in eval mode", "모델이 평가 모드입니다", ("model.train()", "model.eval()")),
        Mistake("the labels are flattened, and the logits are not in the same order", "레이블과 로짓을 펼친 순서가 다릅니다", ("logits.reshape(-1, logits.shape[-1])", "logits.transpose(0, 1).reshape(-1, logits.shape[-1])")),
        Mistake("the loss is a sum, not a mean", "손실이 평균이 아니라 합입니다", ("labels.reshape(-1))", 'labels.reshape(-1), reduction="sum")')),
        Mistake("only the last loss is returned", "마지막 손실만 반환합니다", ("return losses", "return losses[-1:]")),
    ),
)  # fmt: skip
