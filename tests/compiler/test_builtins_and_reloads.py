"""A builtin that is overridden, a module that is reloaded: the compiled step sees it, as it sees other names."""

import builtins
import importlib
import sys

import pytest

import badak


def answers(step, change):
    """Of the sixth call and the ninth, of a step that is changed before the seventh."""
    x = badak.arange(3.0)
    found = []
    for call in range(9):
        if call == 6:
            change()
        found.append(step(x).tolist())
    return found[5], found[8]


@pytest.mark.parametrize("name", ["len", "max", "abs", "sum", "getattr"])
def test_a_builtin_that_is_overridden_is_seen(name, monkeypatch):
    two = type("Two", (), {"real": 2})()
    given = {"len": ("ab",), "max": (1, 2), "abs": (-2,), "sum": ((1, 1),), "getattr": (two, "real")}[name]
    kept = getattr(builtins, name)
    scope = {}
    exec(f"def step(x): return x * {name}(*given)", {"given": given}, scope)
    step = badak.compile(scope["step"])
    other = lambda *args, **kwargs: 7 if args and args[0] is given[0] else kept(*args, **kwargs)
    assert answers(step, lambda: monkeypatch.setattr(builtins, name, other)) == ([0.0, 2.0, 4.0], [0.0, 7.0, 14.0])


def test_a_module_that_is_reloaded_is_seen(tmp_path, monkeypatch):
    path = tmp_path / "badak_reloaded.py"
    path.write_text("S = 2.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.import_module("badak_reloaded")

    def change():
        path.write_text("S = 22.0\n", encoding="utf-8")
        importlib.invalidate_caches()
        importlib.reload(module)

    try:
        assert answers(badak.compile(lambda x: x * module.S), change) == ([0.0, 2.0, 4.0], [0.0, 22.0, 44.0])
    finally:
        del sys.modules["badak_reloaded"]
