"""The way of a parameter: which files run when a Linear is made, goes forward and backward, is stepped by AdamW and saved.

    PYTHONPATH=src python tools/way.py [--calls]

This way should be short, and lead down: a file that is entered counts once, and a call from a lower layer to a higher one
is a turn back. --calls names the functions that were entered. What runs at import, and kernels that Numba compiled, do not count.
"""

import gc
import re
import sys
import tempfile
import tomllib
from pathlib import Path

import badak
from badak import nn

HOUSE = Path(badak.__file__).parent
_PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
_LAYERS = _PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
LAYERS = [[name.strip("() ").replace(".", "/") for name in re.split("[|:]", layer)] for layer in reversed(_LAYERS)]  # lowest first
BESIDE = "core"  # every package calls it, and events call back


def program(folder: str, enter=lambda part: None) -> None:
    """The life of the parameters of one Linear; enter(name) is called at the begin of each part of it."""
    enter("made")
    layer = nn.Linear(3, 2)
    optimizer = badak.optim.AdamW(layer.parameters(), lr=0.01)
    x, dy = badak.ones(4, 3), badak.ones(4, 2)
    enter("forward")
    y = layer(x)
    enter("backward")
    y.backward(dy)
    enter("stepped")
    optimizer.step()
    enter("saved")
    badak.io.safetensors.save_file(layer.state_dict(), f"{folder}/layer.safetensors")


def inside(frame) -> str:
    """The file of a frame, from the house on; "" outside."""
    path = Path(frame.f_code.co_filename)
    return path.relative_to(HOUSE).as_posix() if HOUSE in path.parents else ""


def height(file: str) -> int:
    """The number of a file's layer; -1 for core and outside."""
    name = file.removesuffix(".py")
    for number, layer in enumerate(LAYERS):
        if any(name == each or name.startswith(f"{each}/") for each in layer):
            return -1 if BESIDE in layer else number
    return -1


def trace() -> tuple[dict[str, dict[str, list[str]]], list[str]]:
    """Part of the way -> file -> the functions that are entered, in the order in which they first are; the turns back."""
    found: dict[str, dict[str, list[str]]] = {}
    part: dict[str, list[str]] = {}
    turns: list[str] = []

    def enter(name: str) -> None:
        nonlocal part
        part = found.setdefault(name, {})

    def note(frame, event: str, _) -> None:
        file = inside(frame)
        if event != "call" or not file:
            return
        functions = part.setdefault(file, [])
        if frame.f_code.co_name not in functions:
            functions.append(frame.f_code.co_name)
        caller = inside(frame.f_back) if frame.f_back else ""
        if 0 <= height(caller) < height(file):
            turn = f"{caller}, {frame.f_back.f_code.co_name} -> {file}, {frame.f_code.co_name}"
            if turn not in turns:
                turns.append(turn)

    with tempfile.TemporaryDirectory() as folder:
        program(folder)  # what is imported, compiled and made once
        gc.disable()  # what the collector calls is not on the way
        sys.setprofile(note)
        try:
            program(folder, enter)
        finally:
            sys.setprofile(None)
            gc.enable()
    return found, turns


def main() -> None:
    (found, turns), seen = trace(), set()
    for name, files in found.items():
        print(f"{name}: {len(files)} files")
        for file, functions in files.items():
            calls = ": " + ", ".join(functions) if "--calls" in sys.argv else ""
            print(f"  {'  ' if file in seen else '+ '}{file}{calls}")
        seen |= set(files)
    print(f"{len(seen)} files, {len(turns)} turns back")
    for turn in turns:
        print(f"  {turn}")


if __name__ == "__main__":
    main()
