"""The work of `badak bench`: a step of each model of badak.models, with badak and with PyTorch, from the same weights.

A file of badak.models runs on PyTorch too, once its import lines say torch; so the model is the very same text.
`python -m badak.inspect.profiling.contest badak|torch` is the worker process of one library.
"""

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from badak import models
from badak.core.errors import StateError, tr
from badak.inspect.profiling.peer import Peer, interleave
from badak.inspect.profiling.worker import serve
from badak.tensor.random import manual_seed

TORCH_IMPORTS = [
    ("from badak import nn", "from torch import nn"),
    ("from badak.models.pretrained import Pretrained", "from torch.nn import Module as Pretrained"),
    ("badak.nn ", "torch.nn "),
    ("badak.tensor ", "torch "),
]
SAME_LOSS = 1e-4  # how far two libraries may be apart after a few updates in float32
CHECKED_STEPS = 3


@dataclass(frozen=True)
class Task:
    """One row of the table."""

    name: str
    model: str  # a file of badak.models
    config: dict[str, Any]
    batch: int
    length: int
    train: bool = True


GPT = {"vocab_size": 65, "context": 64}
TASKS = [
    Task("GPT, 4 x 128, a character model", "gpt", {**GPT, "d_model": 128, "layers": 4, "heads": 4}, 12, 64),
    Task("GPT, 3 x 256", "gpt", {**GPT, "d_model": 256, "layers": 3, "heads": 4}, 10, 16),
    Task("GPT, 6 x 384", "gpt", {"vocab_size": 65, "context": 128, "d_model": 384, "layers": 6, "heads": 6}, 4, 128),
    Task("BERT, 2 x 128", "bert", {"vocab_size": 100, "dropout": 0.0}, 10, 24),
    Task("GPT, 4 x 128, forward alone", "gpt", {**GPT, "d_model": 128, "layers": 4, "heads": 4}, 1, 64, train=False),
]


@dataclass(frozen=True)
class Standing:
    """What was measured of one task; `others` and `apart` are None where PyTorch is not installed."""

    task: str
    parameters: int
    badak: dict[str, Any]
    torch: dict[str, Any] | None
    apart: float | None  # the largest difference of two losses

    @property
    def ratio(self) -> float | None:
        """How many times faster badak is."""
        return self.torch["ms"] / self.badak["ms"] if self.torch else None

    @property
    def agrees(self) -> bool:
        """Whether both computed the same."""
        return self.apart is None or self.apart <= SAME_LOSS


def libraries() -> list[str]:
    """badak, and torch where it is installed."""
    return ["badak", "torch"] if importlib.util.find_spec("torch") else ["badak"]


def compete(task: Task, threads: int, rounds: int, seconds: float) -> Standing:
    """Let the libraries take turns at one task."""
    peers: list[Peer] = []
    try:
        for library in libraries():
            peers.append(Peer([sys.executable, "-P", "-m", "badak.inspect.profiling.contest", library], threads))
        parameters = [peer.ask("build", work=asdict(task))["parameters"] for peer in peers]
        losses = np.array([peer.ask(tr("steps"), count=CHECKED_STEPS)["values"] for peer in peers])
        interleave(peers, rounds, seconds)
    finally:
        for peer in peers:
            peer.close()
    if len(set(parameters)) > 1:
        raise StateError(tr("{}: the libraries hold {} parameters", task.name, parameters))
    found = [peer.timing.as_dict() for peer in peers]
    apart = float(np.abs(losses[0] - losses[1]).max()) if len(peers) > 1 else None
    return Standing(task.name, parameters[0], found[0], found[1] if len(found) > 1 else None, apart)


class Step:
    """A training step, or a forward where the task asks for no training; `library` is badak or torch."""

    def __init__(self, library: Any, task: Task):
        self.model = same_model(library.__name__, task)
        random = np.random.default_rng(0)
        ids = random.integers(1, task.config["vocab_size"], (2, task.batch, task.length))
        self.ids, self.labels = (library.from_numpy(each) for each in ids)
        self.parameters = sum(p.numel() for p in self.model.parameters())
        self.library, self.train = library, task.train
        self.optimizer = library.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True)

    def step(self) -> float:
        """One of them; the loss, or the first of the logits."""
        if not self.train:
            with self.library.no_grad():
                return self.model(self.ids)[0, 0, 0].item()
        logits = self.model(self.ids)
        loss = self.library.nn.functional.cross_entropy(logits.flatten(0, 1), self.labels.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def same_model(library: str, task: Task) -> Any:
    """The model of `task` with badak's initial weights, in badak or PyTorch."""
    manual_seed(0)
    model = made(getattr(models, task.model), task)
    if library == "badak":
        return model
    torch = importlib.import_module(library)
    weights = {name: torch.from_numpy(value.numpy()) for name, value in model.state_dict().items()}
    twin = made(on_pytorch(task.model), task)
    twin.load_state_dict(weights)
    return twin


def made(source: types.ModuleType, task: Task) -> Any:
    """The model class of one file of badak.models, at the sizes of `task`."""
    name = task.model.upper()
    return getattr(source, name)(getattr(source, f"{name}Config")(**task.config)).train(task.train)


def on_pytorch(name: str) -> types.ModuleType:
    """badak.models.<name> with PyTorch in place of badak's tensors and layers."""
    text = Path(str(getattr(models, name).__file__)).read_text(encoding="utf-8")
    for ours, theirs in TORCH_IMPORTS:
        text = text.replace(ours, theirs)
    module = types.ModuleType(f"pytorch_{name}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(text, f"<{name} on PyTorch>", "exec"), module.__dict__)
    return module


def main(name: str) -> None:
    """Be the worker of one library."""
    library = importlib.import_module(name)
    importlib.import_module(f"{name}.optim")
    build: Callable[[dict], Step] = lambda work: Step(library, Task(**work))
    serve(build)


if __name__ == "__main__":
    main(sys.argv[1])
