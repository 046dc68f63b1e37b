"""Programs of others, read where they lie: ../shared/clients next to the project, and clones named by CLIENTS_MIRROR.

Each runs in a process of its own, in which `import torch` gives badak: `python -m tests.inspect.audit.clients NAME` prints a
JSON list of
rows (fault, places found, whether found, whether in the right module).
"""

import json
import os
import random
import sys
from pathlib import Path

import numpy as np

PLACE = Path(__file__).resolve().parents[3].parent / "shared" / "clients"
MIRROR = os.environ.get("CLIENTS_MIRROR", "")
NAMES = "nanogpt mingpt nglecture rasbt_gpt annotated hyunwoongko cpm0722 pt_translation bert_codertimo simple_vit seed003".split()
KINDS = {
    "annotated": "encoder-decoder", "hyunwoongko": "encoder-decoder", "cpm0722": "encoder-decoder",
    "pt_translation": "encoder-decoder", "bert_codertimo": "bidirectional", "simple_vit": "image",
}  # fmt: skip


def why_absent() -> str:
    """Why the programs cannot be read here; "" where they can."""
    if not (PLACE / "clients.py").is_file():
        return "the programs of others are not next to the project (../shared/clients)"
    if not MIRROR or not Path(MIRROR).is_dir():
        return "CLIENTS_MIRROR names no folder with clones of the programs"
    return ""


class Stopped(BaseException):
    """The model was called."""


def capture(model, run) -> tuple[tuple, dict]:
    """What `run` calls the model with first, by model(...) or model.forward(...)."""
    seen = []

    def forward(*args, **kwargs):
        seen.append((args, kwargs))
        raise Stopped

    model.__dict__["forward"] = forward
    try:
        run()
    except Stopped:
        pass
    finally:
        del model.__dict__["forward"]
    return seen[0]


def client(name: str):
    """A function that builds a client's program again."""
    sys.path.insert(0, str(PLACE))
    import alias
    import clients
    import loader

    spec = clients.CLIENTS[name]
    cfg = loader.Cfg(**{**dict(d=32, layers=2, heads=4, T=12, B=4, vocab=97), **spec.get("cfg", {})})
    harness = loader.Harness(MIRROR, spec["repo"], cfg, PLACE.parent / "seeds")
    alias.LENIENT = False
    harness.start("badak")

    from tests.inspect.audit.plants import Program

    def make(rng):
        random.seed(0)
        np.random.seed(0)
        made = spec["build"](harness)
        model = made["model"]
        batch = made["batch"](np.random.default_rng(1234))
        args, kwargs = capture(model, lambda: made["loss"](model, batch, 0))
        opt = made["optimizer"](model) if made.get("optimizer") else harness.torch.optim.Adam(model.parameters())
        opt = getattr(opt, "_optimizer", opt)
        return Program(model, args, kwargs, KINDS.get(name, "causal"), optimizers=[opt])

    return make


if __name__ == "__main__":
    out, sys.stdout = sys.stdout, sys.stderr
    from tests.inspect.audit.measure import rows

    print(json.dumps(rows(client(sys.argv[1]), sys.argv[1], sys.argv[3:], sys.argv[2])), file=out)
