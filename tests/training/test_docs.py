"""The program of docs/how-to/training.md runs as it stands there, is interrupted and goes on."""

import contextlib
import io
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "training.md"


def program():
    text = PAGE.read_text(encoding="utf-8")
    return re.search(r"<!-- program: .*?```python\n(.*?)```", text, re.DOTALL)[1]


def run(source):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(source, str(PAGE), "exec"), {"__name__": "__main__"})
    return said.getvalue()


def test_the_program_learns_stops_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run(program())
    assert float(said.rsplit("accuracy ", 1)[1]) > 0.9
    whole = (tmp_path / "runs" / "reader" / "model.safetensors").read_bytes()

    (tmp_path / "again").mkdir()
    monkeypatch.chdir(tmp_path / "again")
    cut = program().replace("callbacks=[", "callbacks=[lambda p: p.step == 70 and __import__('signal').raise_signal(2), ")
    with pytest.raises(KeyboardInterrupt, match="stopped after 70 steps"):
        run(cut)
    run(program())
    assert (tmp_path / "again" / "runs" / "reader" / "model.safetensors").read_bytes() == whole
