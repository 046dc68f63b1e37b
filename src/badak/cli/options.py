"""Command line options made from settings: each field of a config dataclass becomes one option."""

import dataclasses
import typing
from collections.abc import Sequence
from typing import Any

import click

from badak.core.errors import ArgumentError, tr
from badak.io.atomic import as_path
from badak.io.config import LIMITS

FROM_DATA = {  # the data says these
    "vocab_size", "pad_id", "sos_id", "eos_id", "rows", "row_width", "classes", "sha256", "language",
}  # fmt: skip
PATHS = {"data", "val-data", "tokenizer"}  # options that name a file or folder
NAMES = {"path": "data", "vocabulary": "vocab-size", "folder": "init-from"}  # where the option is called differently from the field


class Place(click.ParamType):
    """The name of a file or folder, which need not be there, but which this system can have."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        as_path(value)
        return value


PLACE = Place()


class Number(click.ParamType):
    """A number within the limits of a field, whose help names them already."""

    def __init__(self, kind: type, field: dataclasses.Field):
        limits = field.metadata
        above, below = limits.get("above"), limits.get("below")
        low, high = limits.get("at_least", above), limits.get("at_most", below)
        self.range = kind(min=low, max=high, min_open=above is not None, max_open=below is not None)
        self.name = self.range.name.removesuffix(" range")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.range.convert(value, param, ctx)


def no_arguments(command: str, target: str, arguments: Sequence[str]) -> None:
    """Refuse words behind a target that is no program, which has no use for them: nothing that was typed is dropped."""
    if arguments:
        given = " ".join(arguments)[:60]
        raise ArgumentError(
            tr("{}: {} is no program, so {} is for nobody", command, target, given),
            tr("options stand before it: badak {} {} {}", command, given, target) if arguments[0][:1] == "-" else "leave it out",
        )


class Section(click.Option):
    """An option that stands under a heading of its own in --help."""

    def __init__(self, *args: Any, section: str, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose --help groups the options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and not isinstance(parameter, click.Argument):  # usage names them
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)


def options_of(config: Any, section: str) -> list[Section]:
    """The options of a config, its values the defaults that --help shows."""
    hints = typing.get_type_hints(type(config))
    return [
        option_of(field, hints[field.name], getattr(config, field.name), section)
        for field in dataclasses.fields(config)
        if field.name not in FROM_DATA
    ]


def precision_option() -> click.Option:
    """--precision, for commands whose model answers."""
    return click.Option(
        ["--precision"],
        type=click.Choice(["float32", "bf16", "int8", "q8_0", "q4_0"]),
        default="float32",
        show_default=True,
        help="precision of the weights; bf16 halves the memory, int8 and q8_0 quarter that of Linear layers, q4_0 takes a seventh",
    )


def option_of(field: dataclasses.Field, kind: Any, default: Any, section: str) -> Section:
    """One option; where it is not given its value is None, so that a preset can decide."""
    name = NAMES.get(field.name, field.name).replace("_", "-")
    flags = f"--{name}/--no-{name}" if kind is bool else f"--{name}"
    kinds = {int: Number(click.IntRange, field), float: Number(click.FloatRange, field), str: PLACE, bool: click.BOOL}
    choice = click.Choice(typing.get_args(kind)) if typing.get_origin(kind) is typing.Literal else kinds.get(kind)
    metavar = {int: "N", float: "X", str: "PATH" if name in PATHS else "NAME"}.get(kind)
    return Section([flags, field.name], type=choice, default=None, section=section, help=describe(field, default), metavar=metavar)


def describe(field: dataclasses.Field, default: Any) -> str:
    """What --help says of a field: its meaning, then limits with the unit, and the default."""
    limits = [f"{LIMITS[word][0]} {field.metadata[word]:g}" for word in LIMITS if word in field.metadata]
    shown = (
        {True: "yes", False: "no"}[default]
        if isinstance(default, bool)
        else f"{default:g}"
        if isinstance(default, float)
        else default
    )
    notes = "; ".join(note for note in (", ".join(limits), f"default {shown}" if shown != "" else "") if note)
    unit = f" {field.metadata['unit']}" if field.metadata["unit"] else ""
    return field.metadata["help"] + (f"  [{notes}{unit}]" if notes else "")


def given(config: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Those of `values` that are fields of `config` and were given on the command line."""
    return {f.name: values[f.name] for f in dataclasses.fields(config) if values.get(f.name) is not None}
