"""What a small model of each family of timm does, as numbers. A program of its own for either side, as `record.py` is.

python tests/world/vision/steps.py [NAME ...]          with PyTorch; with badak: badak run tests/world/vision/steps.py
"""

import json
import os
import sys
import tempfile
from types import SimpleNamespace

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import torch  # noqa: E402
from families import MODELS  # noqa: E402
from record import drawn, norms, trained  # noqa: E402


class Labelled(torch.nn.Module):
    """A model and its loss."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images, labels):
        scores = self.model(images)
        return SimpleNamespace(logits=scores, loss=torch.nn.functional.cross_entropy(scores, labels))


def build(name):
    """The model of that family, its weights drawn from seed 0."""
    import timm

    made, options, _ = MODELS[name]
    torch.manual_seed(0)
    if "." not in made:
        return Labelled(timm.create_model(made, num_classes=5, **options))
    module, _, kind = made.partition(".")
    return Labelled(getattr(getattr(timm.models, module), kind)(num_classes=5, **options))


def record(name):
    """Everything about one model; the names are those that `tests.world.compare` knows."""
    import safetensors.torch

    model, draw, kept = build(name), torch.Generator().manual_seed(1), {}
    size = MODELS[name][2]
    kind = torch.float32 if size == 32 else torch.float64
    batch = dict(images=torch.randn(4, 3, size, size, generator=draw).to(kind), labels=torch.tensor([0, 3, 1, 4]))
    kept["weights"] = drawn(model.state_dict().items())
    model.to(kind)
    trained(model, batch, kept)
    model.eval()
    with torch.no_grad():
        scores = model(**batch).logits
    kept["scores"] = norms([("scores", scores)])["scores"]
    with tempfile.TemporaryDirectory() as folder:
        safetensors.torch.save_model(model, f"{folder}/model.safetensors")
        again = build(name).to(kind)
        safetensors.torch.load_model(again, f"{folder}/model.safetensors")
    with torch.no_grad():
        kept["again"] = bool(torch.equal(scores, again.eval()(**batch).logits))
    return kept


if __name__ == "__main__":
    for one in sys.argv[1:] or MODELS:
        try:
            found = record(one)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
            if os.environ.get("WORLD_TRACE"):
                raise
        print(json.dumps({"model": one} | found), flush=True)
