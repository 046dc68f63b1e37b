"""The public programs of others, trained for some steps under the doctor: `python -m tests.inspect.doctor.clients NAME [FAULT]`.

Each runs in a process of its own, in which `import torch` gives badak. Batches are drawn again for every step.
"""

import io
import json
import random
import sys
from contextlib import redirect_stdout

import numpy as np

from tests.inspect.audit.clients import MIRROR, NAMES, PLACE, why_absent  # noqa: F401  (the names are asked for here)

SCRIPTS = "nglecture_script nanogpt_train seed004".split()


def harness(name: str):
    """(the harness, the client's spec)."""
    sys.path.insert(0, str(PLACE))
    import alias
    import clients
    import loader

    spec = clients.CLIENTS[name]
    cfg = loader.Cfg(**{**dict(d=32, layers=2, heads=4, T=12, B=4, vocab=97), **spec.get("cfg", {})})
    made = loader.Harness(MIRROR, spec["repo"], cfg, PLACE.parent / "seeds")
    alias.LENIENT = False
    made.start("badak")
    return made, spec


def training(name: str, steps: int):
    """A function that trains a client's model as its spec says."""
    h, spec = harness(name)
    random.seed(0)
    np.random.seed(0)
    h.torch.manual_seed(0)
    if spec.get("mode") == "script":
        return lambda: spec["build"](h, io.StringIO())
    made = spec["build"](h)
    model = made["model"]
    optimizer = made["optimizer"](model) if made.get("optimizer") else h.torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = made["scheduler"](optimizer) if made.get("scheduler") else None
    rng = np.random.default_rng(1234)

    def train():
        model.train()
        for i in range(steps):
            loss = made["loss"](model, made["batch"](rng), i)
            optimizer.zero_grad()
            loss.backward()
            if made.get("clip"):
                h.torch.nn.utils.clip_grad_norm_(model.parameters(), made["clip"])
            (optimizer.step_and_update_lr if hasattr(optimizer, "step_and_update_lr") else optimizer.step)()
            if schedule is not None:
                schedule.step()

    return train


def checked(name: str, steps: int = 20):
    import badak

    train = training(name, steps)
    with badak.doctor(steps, quiet=True) as checkup, redirect_stdout(sys.stderr):
        train()
    return checkup


if __name__ == "__main__":
    if why_absent():
        sys.exit(why_absent())
    for name in sys.argv[1:]:
        found = checked(name)
        print(json.dumps({"program": name, "found": [f.code for f in found.findings], "steps": found.steps, "text": str(found)}))
