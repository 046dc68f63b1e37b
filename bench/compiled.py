"""The same user code through torch.compile; with badak, `import torch` gives badak and torch.compile is badak.compile.

Variants: "default" and "autotune" (mode max-autotune-no-cudagraphs) compile the model, "step" the whole training step.
"""

import torch

from bench.precision import casting, narrowed
from bench.steps import Encoding, Training, Writing, fingerprint, load
from bench.workloads import Workload, data
from bench.writing import FullCacheAttention, Writer

MODES = {"default": None, "step": None, "autotune": "max-autotune-no-cudagraphs"}


class CompiledTraining(Training):
    """Forward, backward and AdamW as one compiled function."""

    def __init__(self, work: Workload, precision: str):
        super().__init__(work, "blocks", precision=precision, fused=True)
        self.whole = torch.compile(self._whole)

    def _whole(self, *batch):
        self.optimizer.zero_grad(set_to_none=True)
        with casting(self.precision):
            loss = self.model(*batch)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def step(self) -> float:
        return self.whole(*self.batch).item()


class CompiledWriting(Writing):
    """The prompt eagerly, then one compiled step for each token; the place is a tensor, so there is one graph."""

    def __init__(self, work: Workload, mode: str | None, precision: str):
        self.model = Writer(work, FullCacheAttention)
        load(self.model, work, "blocks")
        self.parameters = sum(p.numel() for p in self.model.parameters())
        self.model = narrowed(self.model, precision)
        self.prompt = torch.from_numpy(data(work)["x"])
        self.count = work.T - work.prompt
        self.decode = torch.compile(self.model, mode=mode, fullgraph=True, dynamic=False)

    def step(self) -> float:
        with torch.no_grad():
            x = self.model(self.prompt, torch.tensor(0)).argmax(-1, keepdim=True)
            written = [x]
            for place in range(self.prompt.size(1), self.prompt.size(1) + self.count - 1):
                x = self.decode(x, torch.tensor(place)).argmax(-1, keepdim=True)
                written.append(x)
            return fingerprint(torch.cat(written, dim=1)[0].numpy())


def build(work: Workload, variant: str, precision: str):
    """The work of a compiled peer."""
    mode = MODES[variant]

    def compiled(model):
        return torch.compile(model, mode=mode, fullgraph=True, dynamic=False)

    if work.family == "write":
        return CompiledWriting(work, mode, precision)
    if work.family == "encode":
        return Encoding(work, "blocks", compiled, precision)
    if variant == "step":
        return CompiledTraining(work, precision)
    return Training(work, "blocks", compiled, precision, fused=True)
