"""What one tiny model does, as numbers: `python record.py NAME ...` with torch, `badak run record.py NAME ...` with badak.

One line of JSON for each model: its weights as they were drawn, loss and gradients of the first step, the losses of three
AdamW steps with dropout, what it writes, and whether a copy that was saved and read again gives the same numbers.
A name with a dot, such as pipelines.fill_mask, is a function in uses/: the line has what it gives.
"""

import contextlib
import hashlib
import importlib
import json
import os
import sys
import tempfile
import traceback
import warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"
warnings.simplefilter("ignore")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch  # noqa: E402
from models import MODELS, WRITES, build, inputs  # noqa: E402


def drawn(named):
    """All bits of all tensors in one short word, and two numbers that say how large they are."""
    known, sizes = hashlib.sha256(), [0.0, 0.0]
    for name, x in sorted(named):
        known.update(name.encode() + str(tuple(x.shape)).encode() + x.detach().contiguous().numpy().tobytes())
        sizes[0] += x.detach().double().square().sum().item()
        sizes[1] += x.detach().double().sum().item()
    return [known.hexdigest()[:16], *[float(f"{size:.7g}") for size in sizes]]


def norms(named):
    """How long each gradient is, and how it stands to a fixed direction: two numbers a tensor."""
    kept = {}
    for name, x in named:
        flat = x.detach().double().reshape(-1)
        turned = (flat * torch.linspace(-1, 1, flat.numel(), dtype=torch.float64)).sum().item()
        kept[name] = [float(f"{number:.7g}") for number in (flat.square().sum().sqrt().item(), turned)]
    return kept


def logits(output):
    """The tensor of scores among what a model gives."""
    for name in ("logits", "logits_per_image", "last_hidden_state"):
        if getattr(output, name, None) is not None:
            return getattr(output, name)
    raise KeyError(list(output))


def trained(model, batch, kept):
    """Three steps with dropout."""
    model.train()
    torch.manual_seed(2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    kept["losses"] = []
    for step in range(3):
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        if step == 0:
            kept["gradients"] = norms((n, p.grad) for n, p in model.named_parameters() if p.grad is not None)
        optimizer.step()
        kept["losses"].append(loss.item())


def written(model, batch, kept):
    """What it writes: the most likely tokens, drawn ones, and by beams."""
    given = {name: batch[name][:1] for name in ("input_ids", "input_features") if name in batch}
    if "input_ids" in given:
        given["attention_mask"] = torch.ones_like(given["input_ids"])
    options = dict(max_new_tokens=8, min_new_tokens=8, use_cache=True)
    kept["greedy"] = model.generate(**given, do_sample=False, **options).tolist()
    torch.manual_seed(3)
    kept["sampled"] = model.generate(**given, do_sample=True, top_k=20, temperature=0.9, **options).tolist()
    kept["beams"] = model.generate(**given, num_beams=3, do_sample=False, **options).tolist()


def record(name):
    """Everything about one model."""
    model, batch, kept = build(name), inputs(name), {}
    kept["weights"] = drawn(model.state_dict().items())
    trained(model, batch, kept)
    model.eval()
    with torch.no_grad():
        scores = logits(model(**batch))
    kept["scores"] = norms([("scores", scores)])["scores"]
    if MODELS[name][3] in WRITES:
        written(model, batch, kept)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = type(model).from_pretrained(folder).eval()
    with torch.no_grad():
        kept["again"] = bool(torch.equal(scores, logits(again(**batch))))
    return kept


def given(name):
    """What a function of uses/ gives, as JSON has it: floats to seven digits."""
    torch.manual_seed(0)
    file, _, function = name.partition(".")
    gives = getattr(importlib.import_module(f"uses.{file}"), function)()
    return json.loads(json.dumps(gives), parse_float=lambda text: float(f"{float(text):.7g}"))


def main(names):
    """Print a line for each model."""
    for name in names or MODELS:
        try:
            with contextlib.redirect_stdout(sys.stderr):  # a library may print
                kept = {"gives": given(name)} if "." in name else record(name)
        except Exception as error:
            kept = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
            if os.environ.get("WORLD_TRACE"):
                traceback.print_exc()
        print(json.dumps({"model": name} | kept), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
