"""An eighth list: files, read and written by functions that are not the program's own: badak's and NumPy's.

Each function gives (step, change), as in `ways.py`.
"""

import pathlib
import tempfile
import weakref

import numpy as np

import badak
from tests.compiler.ways import way
from tests.compiler.ways_third import nothing


def with_file(make, write):
    """A step over a file of its own, in which 2.0 stands, and after the change 7.0."""
    folder = tempfile.mkdtemp()
    path = pathlib.Path(folder) / "numbers"
    write(str(path), 2.0)
    step = make(str(path))
    weakref.finalize(step, lambda: [*map(pathlib.Path.unlink, pathlib.Path(folder).iterdir()), pathlib.Path(folder).rmdir()])
    return step, lambda: write(str(path), 7.0)


def in_bytes(path, value):
    pathlib.Path(path).write_bytes(np.full(3, value, np.float32).tobytes())


def in_npy(path, value):
    with open(path, "wb") as file:
        np.save(file, np.full(3, value))


def that_writes(write):
    """A step that writes a file, which is taken away after each call."""
    path = pathlib.Path(tempfile.mkdtemp()) / "written"

    def step(x):
        write(str(path))
        return x * 2

    def taken():
        found = [each.name for each in path.parent.iterdir()]
        for each in path.parent.iterdir():
            each.unlink()
        return found

    step.seen = taken
    step.undo = lambda: path.parent.rmdir()
    return step, nothing


@way
def numbers_that_numpy_reads():
    return with_file(lambda path: lambda x: x * float(np.fromfile(path, np.float32)[0]), in_bytes)


@way
def an_array_that_numpy_loads():
    return with_file(lambda path: lambda x: x * float(np.load(path)[0]), in_npy)


@way
def memory_that_numpy_maps():
    return with_file(lambda path: lambda x: x * float(np.memmap(path, np.float32, "r")[0]), in_bytes)


@way
def numbers_that_numpy_writes():
    numbers = np.ones(3)
    return that_writes(lambda path: numbers.tofile(path))


@way
def an_array_that_numpy_dumps():
    numbers = np.ones(3)
    return that_writes(lambda path: numbers.dump(path))


@way
def an_array_that_numpy_saves():
    return that_writes(lambda path: np.save(path, np.ones(3)))


@way
def weights_that_are_saved():
    layer = badak.nn.Linear(3, 3)
    return that_writes(lambda path: badak.save(layer.state_dict(), path))
