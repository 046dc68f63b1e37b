"""The same user code through torch.compile: "default", or "autotune" for mode max-autotune-no-cudagraphs."""

import torch

from bench.steps import Encoding, Training, Writing, fingerprint, load
from bench.workloads import Workload, data
from bench.writing import FullCacheAttention, Writer

MODES = {"default": None, "autotune": "max-autotune-no-cudagraphs"}


class CompiledWriting(Writing):
    """The prompt eagerly, then one compiled step for each token; the place is a tensor, so there is one graph."""

    def __init__(self, work: Workload, mode: str | None):
        self.model = Writer(work, FullCacheAttention)
        load(self.model, work, "blocks")
        self.parameters = sum(p.numel() for p in self.model.parameters())
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


def build(work: Workload, variant: str):
    """The work of a compiled peer."""
    mode = MODES[variant]

    def compiled(model):
        return torch.compile(model, mode=mode, fullgraph=True, dynamic=False)

    if work.family == "write":
        return CompiledWriting(work, mode)
    if work.family == "encode":
        return Encoding(work, "blocks", compiled)
    return Training(work, "blocks", compiled, fused=True)
