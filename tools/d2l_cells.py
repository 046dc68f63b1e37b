"""The cells of d2l.ai's chapters, on PyTorch and on badak: how many that run on PyTorch say the same on badak.

    python tools/d2l_cells.py ../d2l-en [--torch PYTHON] [--badak PYTHON] [--only PART] [--record]

A chapter is one process, its cells run one after the other from seed 0, without a network: what needs a download fails on both
sides and is not counted. What a cell prints, and its last expression, are compared: words to the letter, numbers to a thousandth;
lines of times and rates are left out.
"""

import argparse
import ast
import contextlib
import io
import json
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent.parent
CELL = re.compile(r"^```\{\.python \.input[^\n]*\n(.*?)^```", re.M | re.S)
TAB = re.compile(r"^(?:%%tab|#@tab)\s+(.*)$", re.M)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)", re.I)
TIMED = re.compile(r"id\(|flops|sec|/s\b|time|ago|0x[0-9a-f]+", re.I)
SECONDS = 20  # of a cell


def cells(text: str) -> list[str]:
    """The cells of a chapter for PyTorch, without what is said to the notebook."""
    found, tabs = CELL.findall(text), TAB.search(text)
    chosen = [each for each in found if not tabs or (m := TAB.search(each)) and {"all", "pytorch"} & set(re.split(r"[ ,]+", m[1]))]
    lines = [[line for line in each.splitlines() if not line.lstrip().startswith(("%", "!", "#@tab"))] for each in chosen]
    return ["\n".join(each) for each in lines]


def chapter(path: str) -> None:
    """Run the cells of a chapter, and print what each of them said, or that it failed."""
    import random
    import socket

    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    import torch

    sys.path.insert(0, str(Path(path).parent.parent))
    if "badak" not in torch.__file__:  # a torchvision of another build asks for these names
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from IPython import display

    def refuse(*args, **kwargs):
        raise OSError("no network")

    def late(*_):
        raise TimeoutError

    socket.create_connection = socket.getaddrinfo = refuse
    display.display = display.clear_output = lambda *args, **kwargs: None
    signal.signal(signal.SIGALRM, late)
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    torch.set_num_threads(1)
    names = {"__name__": "__main__", "tab": SimpleNamespace(selected=lambda *tabs: "pytorch" in tabs)}
    said: list[str | None] = []
    for text in cells(Path(path).read_text(encoding="utf-8")):
        out = io.StringIO()
        signal.alarm(SECONDS)
        try:
            with contextlib.redirect_stdout(out):
                tree = ast.parse(text)
                last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
                exec(compile(tree, "<cell>", "exec"), names)
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
                if value is not None:
                    print(repr(value))
            said.append(out.getvalue())
        except BaseException as error:
            said.append(None)
            first = next(iter(str(error).splitlines()), "")
            print(f"{Path(path).parent.name}/{Path(path).name} {len(said)}: {type(error).__name__}: {first}", file=sys.stderr)
        finally:
            signal.alarm(0)
    print("\n" + json.dumps(said))


def ran(python: str, badak: bool, path: Path) -> tuple[list, str]:
    """What the cells of a chapter said, and what was said of those that failed."""
    command = [python, *(["-m", "badak", "run"] if badak else []), str(Path(__file__).resolve()), "--chapter", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        return json.loads(done.stdout.splitlines()[-1]), done.stderr
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return [], "no answer\n"


def same(a: str, b: str) -> bool:
    """Whether two texts are the same but for rounding."""
    a, b = ("\n".join(line for line in each.splitlines() if not TIMED.search(line)) for each in (a, b))
    plain = lambda text: re.sub(r"\s+", "", NUMBER.sub("#", text)).replace("badak.", "torch.")
    if plain(a) != plain(b):
        return False
    pairs = [tuple(map(float, pair)) for pair in zip(NUMBER.findall(a), NUMBER.findall(b))]
    return all(x == y or (x != x and y != y) or abs(x - y) <= 1e-3 * max(abs(x), abs(y)) + 2e-4 for x, y in pairs)


def main() -> None:
    """Run, compare, print, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--torch", default=sys.executable, help="an interpreter that has PyTorch")
    parser.add_argument("--badak", default=sys.executable, help="an interpreter that need not have it")
    parser.add_argument("--only", default="", help="a part of the path of a chapter")
    parser.add_argument("--record", action="store_true", help="keep the counts for docs/reference/huggingface-tests.md")
    args = parser.parse_args()
    paths = [path for path in sorted(args.folder.glob("chapter_*/*.md")) if args.only in str(path)]
    paths = [path for path in paths if cells(path.read_text(encoding="utf-8"))]
    if not paths:
        parser.error(f"no chapters of d2l.ai with cells in {args.folder}\nfix: the folder of a clone of d2l-ai/d2l-en")
    for python in (args.torch, args.badak):
        if not shutil.which(python):
            parser.error(f"{python} is no interpreter\nfix: the path of a Python, such as .venv/bin/python")
    passed = equal = 0
    others = []

    def both(path: Path) -> tuple:
        return path, ran(args.torch, False, path), ran(args.badak, True, path)

    with ThreadPoolExecutor(2) as pool:
        for path, (theirs, _), (ours, why) in pool.map(both, paths):
            for number, said in enumerate(theirs):
                if said is None:
                    continue
                passed += 1
                mine = ours[number] if number < len(ours) else None
                if mine is not None and same(said, mine):
                    equal += 1
                    continue
                cause = next((line for line in why.splitlines() if f"{path.name} {number + 1}:" in line), "another text")
                others.append(f"{path.parent.name}/{path.name} {number + 1}: {cause.split(': ', 1)[-1]}")
                print(others[-1], *([said[:300], mine[:300]] if mine is not None else []), sep="\n  ", flush=True)
    print(f"{passed} cells run on PyTorch, {equal} of them say the same on badak")
    if args.record:
        sys.path.insert(0, str(HERE))
        from tools.their_tests import commit, record

        kept = {"commit": commit(args.folder), "date": str(date.today()), "badak": equal, "torch": passed, "only torch": others}
        record("d2l", kept | {"causes": {}, "why": "cells of chapters, by tools/d2l_cells.py"})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--chapter"]:
        chapter(sys.argv[2])
    else:
        main()
