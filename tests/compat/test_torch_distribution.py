"""A package that asks for the version of torch: it is there where `import torch` gives badak, and nowhere else."""

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import importlib.metadata
import importlib.util
print(importlib.metadata.version("torch"), importlib.metadata.distribution("torch").metadata["Name"])
print(importlib.util.find_spec("torch") is not None)
try:
    importlib.metadata.version("torchaudio-that-nobody-has")
except importlib.metadata.PackageNotFoundError:
    print("not there")
"""


def test_the_version_of_torch_is_badaks(tmp_path, badak_run):
    (tmp_path / "ask.py").write_text(PROGRAM)
    done = badak_run(tmp_path / "ask.py")
    assert done.code == 0, done.err
    version, name, found, other = done.out.replace("\n", " ").strip().split(maxsplit=3)
    assert version.startswith("2.13.0+badak") and (name, found, other) == ("torch", "True", "not there")
