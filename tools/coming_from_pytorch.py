"""Write docs/reference/coming-from-pytorch.md: what is the same, better, missing. `python tools/coming_from_pytorch.py [--check]`.

The facts come from tests/compat/expected, which PyTorch printed and badak prints too; the missing names from the list of
PyTorch's names and from what badak has.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from badak.core.public_api import placeholders
from badak.core.public_api.table import INSTEAD, names_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "coming-from-pytorch.md"
FACE = ROOT / "tests" / "compat"
FACTS, MISTAKES = FACE / "expected" / "traps.txt", FACE / "expected" / "mistakes.txt"
SPACES = [
    "nn",
    "nn.functional",
    "nn.init",
    "nn.utils",
    "nn.utils.rnn",
    "optim",
    "optim.lr_scheduler",
    "autograd",
    "utils.data",
]
SPACES += ["fft", "func", "linalg", "Tensor"]
WORDS = re.compile(r"^[a-z][a-z0-9_]*$")  # of torch itself only what looks like a function: the rest is machinery

TEXT = """# Coming from PyTorch

Written by `tools/coming_from_pytorch.py`; a test keeps it true. badak follows PyTorch 2.13 on a CPU.

```sh
badak run train.py --lr 3e-4      # the program as it is: `import torch` gives badak, no torch installed
badak run -m package.train        # as python -m
badak run --check train.py        # which names of torch it uses, and which of them are not there
```

In a notebook, `import badak.as_torch` as the first line does the same. In code of your own, `import badak` and
`from badak import nn` is enough; printed names then say `badak.float32` where a program that imports torch sees
`torch.float32`.

## The same

- **Names, positions, defaults, promotion, views, in-place rules, `state_dict` keys and their order.** The facts below
  are printed by one program, word for word as PyTorch prints them.
- **The numbers of a seed**: `rand`, `randn`, `randint`, `randperm`, `multinomial`, the distributions (gamma, beta,
  Poisson and binomial numbers too), dropout, every `nn.init`, the order in which modules draw, DataLoader shuffling.
  A lecture's training script prints PyTorch's losses, and then writes PyTorch's 500 characters.
- **Files**: `torch.load` reads `.pt` files of tensors, state_dicts and plain values; `torch.save` writes what PyTorch
  reads with `weights_only=True`. Each record is checked by its CRC; with `mmap=True` the numbers are not, since they are
  mapped and not read.
- **Feature tests**: `hasattr(F, "scaled_dot_product_attention")`, `"fused" in signature(AdamW).parameters`,
  `torch.__version__ >= "2.0"`, `torch.cuda.is_available()`; an `import` inside `try` fails if badak lacks the name,
  so that the program takes its other path.
- **einops**, unmodified: its functions with badak's tensors everywhere, its layers under `badak run`.

{facts}

### Whole programs

Public programs as their authors wrote them, each run by PyTorch 2.13 and by `badak run` in an environment without
PyTorch, from the same files, on two CPUs, in November 2026. Times and file paths aside, this is what they printed:

{programs}

Where the losses part, it is after some hundred steps, by the last digit, and as rounding errors grow: PyTorch with
another number of threads parts from itself in the same way.

## Better

- **Errors say cause and fix**, two lines, with the shapes and places found; under `badak run` the traceback shows the
  program's own lines. Each class derives from the one that PyTorch raises there, so an `except` written for PyTorch
  catches it.
- **A query with nothing to attend to gives zeros**, with zero gradients, in every path; in PyTorch's
  MultiheadAttention it is NaN.
- **A batch without a label gives a loss of 0**, with zero gradients and a warning: every label is ignored, or the batch is
  empty. In PyTorch the mean of cross_entropy and nll_loss is NaN there, and so is every weight after the next step.
- **`is_causal=True` alone is a causal mask**, in MultiheadAttention and the layers of Transformers, too; PyTorch demands an
  attn_mask next to it.
- **The same bits on any number of threads**, always.
- **One numeric path**: training with p=0, `eval()` and a cache (`nn.KeyValueCache`) give the same numbers; there is no
  other path for inference.
- **NumPy on the left**: `array * tensor` gives a tensor.

## Different, and why

{different}

What is said of mistakes, the lines that PyTorch and badak print:

{mistakes}

## Missing

Using one of these raises an error which is an `AttributeError` too, so `hasattr` says False. Ask for what you need in an
issue that shows the line.

{missing}

What serves in their place:

| missing | use |
| --- | --- |
{instead}
"""


DIFFERENT = [  # what, PyTorch, badak, why
    (
        "the name of an error's class",
        "`RuntimeError`",
        "`ShapeError`, `GraphError`, ...",
        "they say more, and derive from it",
    ),
    ("an error's text", "one sentence", "that mistake, then what was found, and the fix", "see Better"),
    (
        "`create_graph=True` through `nn.LSTM`, `GRU`, `RNN`, `linalg.svd`, hooks of modules",
        "second derivatives",
        "an error that names the operation",
        "their backward is one kernel, or hands out arrays",
    ),
    ("`torch.compile(model)`", "an `OptimizedModule`", "the model", "kernels are compiled; calls without gradient are replayed"),
    (
        "`torch.compile(step)`",
        "graphs, broken at `backward()`",
        "the whole step is replayed",
        "see [compile](../explanation/compile.md)",
    ),
    ("`jit.script`", "TorchScript", "a copy that runs its Python", "its file is the trace of a run; branches on data are refused"),
    ("`jit.trace`", "TorchScript", "a graph of public functions; random draws are refused", "a file of it holds data, no code"),
    ("`export` graphs", "aten's operators", "badak's public functions, `torch.nn.functional.linear`", "they are its operations"),
    ("`TorchDispatchMode`", "sees all below autograd", "sees badak's operations, `aten.linear.default`", "zeros(3) is none"),
    ("`autograd.forward_ad`", "one walk forward", "two walks backwards, exactly; not under `no_grad()`", "one set of derivatives"),
    ("`DataParallel`, a process group of one", "spread the work", "call the model", "there is one device"),
    ("CUDA tensors", "work", "an error that says so", "one machine's CPU"),
    ("Several processes", "torchrun, gloo or nccl", "`badak launch`, MPI", "[many machines](../how-to/distributed.md)"),
    (
        "the gradient of a sparse leaf",
        "dense behind `t()`, `to_dense()` and CSR",
        "sparse, at its places",
        "its values are the leaf",
    ),
    (
        "the gradient of the factor L in `cholesky_solve`, `cholesky_inverse`",
        "that of L Lᵀ, above the diagonal as well",
        "0 above the diagonal",
        "what stands there is not read",
    ),
    ("indices of a sparse tensor", "checked where asked", "always checked", "a wrong one writes to foreign memory"),
    ("batches of CSR matrices, BSR, BSC", "work", "an error that says so", "graph networks need none"),
    ("a name that badak lacks", "", "is imported, and fails where it is used", "most programs never come there"),
]


NANO = "--device=cpu --compile=False --dtype=float32 --eval_iters=5 --log_interval=10 --block_size=64 --batch_size=12 "
NANO += "--n_layer=4 --n_head=4 --n_embd=128 --max_iters=200 --eval_interval=100 --lr_decay_iters=200 --dropout=0.1"
PROGRAMS = [  # program, command, PyTorch's lines, badak's
    (
        "karpathy/ng-video-lecture, bigram",
        "bigram.py",
        "`step 0: train loss 4.7305, val loss 4.7241` ... `step 2700: train loss 2.4738, val loss 2.4911`, 500 characters",
        "the same, every character",
    ),
    (
        "karpathy/makemore, Transformer, 204,544 parameters",
        "makemore.py --max-steps 501 --num-workers 0",
        "51 losses: `3.5123` at step 0, `2.2336` at 250, `2.2251` at 500; 20 names drawn; test loss `2.1970791816711426`",
        "the same losses and names; test loss `2.1970794200897217`",
    ),
    (
        "karpathy/nanoGPT, 0.80M parameters, dropout 0.1",
        f"train.py config/train_shakespeare_char.py {NANO}",
        "21 losses: `4.1806` at iter 0, `2.6289` at 100, `2.4667` at 200; `step 200: train loss 2.4698, val loss 2.4955`",
        "the same",
    ),
    (
        "karpathy/minGPT, adder, dropout 0.1",
        "projects/adder/adder.py --trainer.max_iters=501 --trainer.num_workers=0",
        "51 losses: `2.31454` at iter 0, `1.54280` at 220, `1.54766` at 240, `1.31652` at 500; on one thread `1.35117` at 500",
        "the same to iter 220; then `1.54765` at 240, `1.37011` at 500",
    ),
]


def programs() -> str:
    """The table of what whole programs printed when they were run."""
    rows = [f"| {name} | `{command}` | {theirs} | {ours} |" for name, command, theirs, ours in PROGRAMS]
    return "\n".join(["| program | command | PyTorch | badak |", "| --- | --- | --- | --- |", *rows])


def different() -> str:
    """The table of what is different on purpose."""
    rows = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in DIFFERENT]
    return "\n".join(["| what | PyTorch | badak | why |", "| --- | --- | --- | --- |", *rows])


def facts() -> str:
    """The table of what PyTorch and badak print alike."""
    lines = [line.split(" | ", 1) for line in FACTS.read_text(encoding="utf-8").splitlines() if " | " in line]
    rows = [f"| {name} | `{value}` |" for name, value in lines if len(value) < 100 and "`" not in value and "|" not in value]
    return "\n".join([f"| {len(lines)} facts, among them | |", "| --- | --- |", *rows])


def mistakes() -> str:
    """The table of errors: PyTorch's as recorded, badak's as `badak run` prints them now."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "BADAK_KERNELS": "reference"}
    command = [sys.executable, "-m", "badak", "run", str(FACE / "mistakes.py")]
    ours = subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout
    said = [[line.split(" | ")[-1] for line in text.splitlines()] for text in (MISTAKES.read_text(encoding="utf-8"), ours)]
    names = [line.split(" | ")[0] for line in ours.splitlines()]
    rows = [f"| {name} | {cell(a)} | {cell(b)} |" for name, a, b in zip(names, *said)]
    return "\n".join(["| | PyTorch | badak |", "| --- | --- | --- |", *rows])


def cell(text: str) -> str:
    """A message as a cell of a table: the class as code, the fix on a line of its own, its end left out if it is long."""
    kind, _, words = text.partition(": ")
    words = re.sub(r"([|<>*])", r"\\\1", words if len(words) < 300 else words[:297] + "...")
    return f"`{kind}` " + words.replace(" fix: ", "<br>fix: ")


def missing_names(space: str) -> list[str]:
    """The names of torch.<space> that badak does not have."""
    return [name for name in placeholders(space) if space or WORDS.match(name)]


def missing() -> str:
    """For each namespace how many of PyTorch's names are there, and those that are not."""
    parts = []
    for space in ["", *SPACES]:
        lacking = missing_names(space)
        known = [name for name in names_of(space) if space or WORDS.match(name)]
        title = f"torch.{space}".rstrip(".")
        parts.append(f"**{title}**: {len(known) - len(lacking)} of {len(known)} are there" + ("." if not lacking else ", not:"))
        if lacking:
            parts.append("<details><summary>" + f"{len(lacking)} names</summary>\n\n" + ", ".join(lacking) + "\n\n</details>")
    return "\n\n".join(parts)


def page() -> str:
    """The whole page."""
    rows = [f"| `torch.{name}` | {use} |" for name, use in sorted(INSTEAD.items())]
    return TEXT.format(
        facts=facts(), programs=programs(), different=different(), mistakes=mistakes(), missing=missing(), instead="\n".join(rows)
    )


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "out of date: python tools/coming_from_pytorch.py")
    PAGE.write_text(page(), encoding="utf-8")
