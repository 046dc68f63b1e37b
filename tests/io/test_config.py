"""Settings: written as JSON, read back with every field checked."""

import dataclasses
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from badak.core.errors import ArgumentError, FileError
from badak.io.config import check, option, read_config, to_dict, write_config


@dataclass(frozen=True)
class Model:
    heads: int = option(4, "attention heads", at_least=1)
    dropout: float = option(0.1, "probability", at_least=0.0, below=1.0)
    activation: Literal["relu", "gelu"] = "gelu"

    def __post_init__(self):
        check(self)


@dataclass(frozen=True)
class Run:
    steps: int = option(2000, "updates", unit="steps", at_least=1)
    lr: float = option(1e-3, "learning rate", above=0.0)
    betas: tuple[float, float] = (0.9, 0.999)
    name: str | None = None
    sizes: tuple[int, ...] = ()
    words: list[str] = field(default_factory=list)
    extra: dict[str, int] = field(default_factory=dict)
    shuffle: bool = True
    data: Path | None = None
    anything: Any = None
    model: Model = Model()

    def __post_init__(self):
        check(self)
        if self.steps == 13:
            raise ArgumentError("Run: 13 brings bad luck", "steps=12")


@dataclass(frozen=True)
class Bare:
    needed: int
    optional: int = 1


RUN = Run(
    steps=7,
    lr=0.5,
    betas=(0.5, 0.25),
    name="a",
    sizes=(1, 2, 3),
    words=["x"],
    extra={"k": 1},
    shuffle=False,
    data=Path("d"),
    model=Model(2, 0.0, "relu"),
)


def test_a_config_comes_back_equal(tmp_path):
    for config in (Run(), RUN):
        write_config(tmp_path / "config.json", config)
        assert read_config(tmp_path / "config.json", Run) == config
    assert os.listdir(tmp_path) == ["config.json"]


@pytest.mark.slow
@given(
    st.integers(1),
    st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False),
    st.none() | st.text(),
    st.lists(st.integers()),
)
@settings(max_examples=50, deadline=None)
def test_any_config_comes_back_equal(tmp_path_factory, steps, lr, name, sizes):
    path = tmp_path_factory.mktemp("run") / "config.json"
    config = Run(steps=steps if steps != 13 else 14, lr=lr, name=name, sizes=tuple(sizes))
    write_config(path, config)
    assert read_config(path, Run) == config


def test_absent_keys_take_their_defaults_and_whole_numbers_are_floats(tmp_path):
    (tmp_path / "c.json").write_text('{"lr": 1, "model": {"heads": 8}}')
    config = read_config(tmp_path / "c.json", Run)
    assert config == Run(lr=1.0, model=Model(heads=8)) and type(config.lr) is float


@pytest.mark.parametrize(
    "text, cause",
    [
        ('{"step": 3}', "unknown key 'step' (nearest: 'steps')"),
        ('{"zzzz": 3}', "unknown key 'zzzz' (known: steps, lr, betas"),
        ('{"model": {"head": 3}}', "unknown key 'model.head' (nearest: 'model.heads')"),
        ('{"steps": "3"}', "expected steps to be an integer; got the text '3'"),
        ('{"steps": 3.5}', "expected steps to be an integer; got the number 3.5"),
        ('{"steps": true}', "expected steps to be an integer; got the boolean True"),
        ('{"steps": null}', "expected steps to be an integer; got null"),
        ('{"steps": 0}', "expected steps >= 1 (steps); got 0"),
        ('{"lr": 0}', "expected lr > 0.0; got 0.0"),
        ('{"lr": NaN}', "expected lr to be a finite number; got the number nan"),
        ('{"lr": "1e-3"}', "expected lr to be a finite number; got the text '1e-3'"),
        ('{"shuffle": 1}', "expected shuffle to be true or false; got the integer 1"),
        ('{"name": 1}', "expected name to be a text or null; got the integer 1"),
        ('{"betas": [0.9]}', "expected betas to be a list of 2 values; got the list [0.9]"),
        ('{"betas": [0.9, "x"]}', "expected betas[1] to be a finite number; got the text 'x'"),
        ('{"sizes": 3}', "expected sizes to be a list, each item an integer; got the integer 3"),
        ('{"words": [1]}', "expected words[0] to be a text; got the integer 1"),
        ('{"extra": {"a": "b"}}', "expected extra.a to be an integer; got the text 'b'"),
        ('{"extra": 1}', "expected extra to be a table; got the integer 1"),
        ('{"model": 3}', "expected model to be a table of settings; got the integer 3"),
        ('{"model": {"dropout": 1.0}}', "expected model.dropout >= 0.0 and model.dropout < 1.0; got 1.0"),
        (
            '{"model": {"activation": "tanh"}}',
            'expected model.activation to be one of "relu", "gelu"; got the text \'tanh\'',
        ),
        ('{"steps": 13}', "Run: 13 brings bad luck"),
        ('{"step": 3, "lr": -1}', "unknown key 'step' (nearest: 'steps'); expected lr > 0.0; got -1.0"),
        ("[]", "expected a table of settings; got the list []"),
        ("", "not JSON: line 1, column 1: Expecting value"),
        ('{"steps": 3,}', "not JSON: line 1, column"),
        ('{"steps": 3, "steps": 4}', "not JSON: the key 'steps' stands there twice"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_each_mistake_in_a_file_is_named(tmp_path, text, cause):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        read_config(path, Run)
    assert str(caught.value).startswith(f"{path}: ") and cause in str(caught.value) and "\nfix: " in str(caught.value)


def test_a_missing_key_without_default_is_named(tmp_path):
    (tmp_path / "c.json").write_text("{}")
    with pytest.raises(FileError, match="the key 'needed' is missing"):
        read_config(tmp_path / "c.json", Bare)


def test_bytes_that_are_no_text_and_absent_files_are_named(tmp_path):
    (tmp_path / "c.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="c.json: not JSON"):
        read_config(tmp_path / "c.json", Run)
    with pytest.raises(FileError, match="d.json: no such file"):
        read_config(tmp_path / "d.json", Run)


def test_check_names_every_field_at_once():
    with pytest.raises(ArgumentError) as caught:
        Run(steps=0, lr="fast", betas=[0.9, 0.9])
    assert str(caught.value) == (
        "Run: expected steps >= 1 (steps); got 0; expected lr to be a finite number; got the text 'fast'; "
        "expected betas to be a list of 2 values; got the list [0.9, 0.9]\n"
        "fix: for example steps=2000, lr=0.001, betas=(0.9, 0.999)"
    )


def test_option_carries_its_words():
    one = next(f for f in dataclasses.fields(Run) if f.name == "steps")
    assert one.metadata["help"] == "updates" and one.metadata["unit"] == "steps" and one.default == 2000
    assert to_dict(RUN)["data"] == "d"
