"""Who competes: the table of peers, and the process that one of them runs in (`python -m bench.peers LABEL`)."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TRAIN = ("W1", "W1b", "W2", "W3", "W4", "W5", "W6", "W7")
WRITE = ("I1", "I2")
SMALL = TRAIN[:-1]
PRECISIONS = "float32", "bf16", "int8"


@dataclass(frozen=True)
class Library:
    """One row of the table of peers. `package` must be installed; `module` of bench builds the work.

    A label ends with the precision where it is not float32.
    """

    label: str
    package: str
    module: str
    variant: str
    workloads: tuple[str, ...]

    @property
    def precision(self) -> str:
        return precision_of(self.label)


def precision_of(label: str) -> str:
    """The last word of a label, where it is a precision."""
    last = label.rpartition(" ")[2]
    return last if last in PRECISIONS else "float32"


LIBRARIES = [
    Library("badak blocks", "badak", "steps", "blocks", (*TRAIN, *WRITE, "I3")),
    Library("badak layers", "badak", "steps", "layers", (*TRAIN, "I3")),
    Library("badak compile", "badak", "compiled", "step", (*TRAIN, *WRITE, "I3")),
    Library("torch blocks", "torch", "steps", "blocks", (*TRAIN, *WRITE, "I3")),
    Library("torch blocks+foreach", "torch", "steps", "blocks+foreach", SMALL),
    Library("torch layers", "torch", "steps", "layers", (*TRAIN, "I3")),
    Library("torch products", "torch", "steps", "products", (*SMALL, "I3")),
    Library("torch transposed", "torch", "steps", "transposed", WRITE),
    Library("torch compile", "torch", "compiled", "default", (*TRAIN, *WRITE, "I3")),
    Library("torch compile+step", "torch", "compiled", "step", ("W1", "W2", "W3", "W4")),
    Library("torch compile+autotune", "torch", "compiled", "autotune", (*SMALL, "I1", "I3")),
    Library("jax", "jax", "with_jax", "", (*TRAIN, *WRITE, "I3")),
    Library("ctranslate2", "ctranslate2", "with_ctranslate2", "", (*WRITE, "I3")),
    Library("badak blocks bf16", "badak", "steps", "blocks", (*TRAIN, *WRITE, "I3")),
    Library("badak compile bf16", "badak", "compiled", "step", (*TRAIN, *WRITE, "I3")),
    Library("torch blocks bf16", "torch", "steps", "blocks", (*TRAIN, *WRITE, "I3")),
    Library("torch autocast bf16", "torch", "steps", "blocks+autocast", ("I3",)),
    Library("torch compile bf16", "torch", "compiled", "default", (*TRAIN, *WRITE, "I3")),
    Library("badak blocks int8", "badak", "steps", "blocks", (*WRITE, "I3")),
    Library("badak compile int8", "badak", "compiled", "step", (*WRITE, "I3")),
    Library("ctranslate2 int8", "ctranslate2", "with_ctranslate2", "", (*WRITE, "I3")),
]


def missing(library: Library) -> bool:
    """Whether its package is not installed here."""
    return importlib.util.find_spec(library.package) is None


def chosen(labels: list[str], precisions: Sequence[str] = PRECISIONS) -> list[Library]:
    """The libraries whose label begins with one of `labels`, all where none is given; in these precisions."""
    wanted = [each for each in LIBRARIES if not labels or any(each.label.startswith(label) for label in labels)]
    return [each for each in wanted if each.precision in precisions]


def command(library: Library) -> list[str]:
    """What starts its process."""
    return [sys.executable, "-m", "bench.peers", library.label]


def prepare(package: str) -> None:
    """What must happen before the package is imported: badak under PyTorch's name, threads, places of compile caches."""
    caches = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "badak-bench"
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(caches / "inductor"))
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(caches / "jax"))
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if package == "badak":
        importlib.import_module("badak.as_torch")
    elif package == "torch":
        torch = importlib.import_module("torch")
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        torch.set_num_interop_threads(1)


def main(label: str) -> None:
    """Serve the work of one library."""
    from badak.inspect.profiling.worker import serve
    from bench.workloads import Workload

    (library,) = [each for each in LIBRARIES if each.label == label]
    prepare(library.package)
    build = importlib.import_module(f"bench.{library.module}").build
    serve(lambda work: build(Workload(**work), library.variant, library.precision))


if __name__ == "__main__":
    main(sys.argv[1])
