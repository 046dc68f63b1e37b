"""Libraries that are written for PyTorch do with badak what they do with PyTorch, from one small program each.

What PyTorch prints is kept in `libraries/`: `python tests/world/test_libraries.py PYTHON` writes it, PYTHON one that has torch.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compat.test_programs import assert_same

HERE = Path(__file__).resolve().parent / "libraries"
NEEDS = {
    "captum": "captum",
    "diffusers": "diffusers",
    "fresh": "higher perceiver_pytorch pypose torchjd",
    "gpytorch": "gpytorch",
    "keras": "keras",
    "layers": "torchmetrics torchdiffeq ignite vector_quantize_pytorch x_transformers local_attention entmax"
    " pytorch_metric_learning",
    "lightning": "lightning",
    "more": "zuko geoopt torchsde kornia e3nn",
    "pyro": "pyro",
    "pytorch_optimizer": "pytorch_optimizer",
    "skorch": "skorch",
    "torch_geometric": "torch_geometric",
}


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDS)
def test_a_library_does_what_it_does_with_pytorch(name):
    for package in NEEDS[name].split():
        if importlib.util.find_spec(package) is None:
            pytest.skip(f'{package} is not installed: pip install "badak[libraries]"')
    command = [sys.executable, "-W", "ignore", "-m", "badak", "run", str(HERE / f"use_{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert_same(done.stdout, (HERE / f"{name}.txt").read_text(encoding="utf-8"), 5e-4)


def test_every_program_is_run():
    assert sorted(path.stem.removeprefix("use_") for path in HERE.glob("use_*.py")) == sorted(NEEDS)
    assert all((HERE / f"{name}.txt").read_text(encoding="utf-8") for name in NEEDS)


if __name__ == "__main__":
    for name in NEEDS:
        command = [sys.argv[1], "-W", "ignore", str(HERE / f"use_{name}.py")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        (HERE / f"{name}.txt").write_text(done.stdout, encoding="utf-8")
