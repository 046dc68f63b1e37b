"""Settings that explain and check themselves: frozen dataclasses whose fields carry help, unit and range.

The command line makes its options from them, a run folder keeps them as JSON, and a value outside its range is refused
in the constructor, so that no code behind it has to look again.
"""

import dataclasses
import math
from typing import Any, Self

from badak.errors import ArgumentError

KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def setting(default: Any, help: str, *, unit: str = "", within: str = "", choices: tuple[str, ...] = ()) -> Any:
    """A field of a Config: what it means, its unit, and where its value must lie.

    `within` is an interval as it is written in mathematics, "[0, 1)" or "[1, inf)"; `choices` lists the texts allowed.
    """
    metadata = {"help": help, "unit": unit, "within": within, "choices": choices}
    return dataclasses.field(default=default, metadata=metadata)


def lies_within(value: float, interval: str) -> bool:
    """Whether `value` is in `interval`, e.g. lies_within(1.0, "[0, 1)") is False."""
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = value >= low if interval[0] == "[" else value > low
    below = value <= high if interval[-1] == "]" else value < high
    return above and below


@dataclasses.dataclass(frozen=True)
class Config:
    """The base of all settings: checked when made, `to_dict` and `from_dict` for JSON."""

    def __post_init__(self):
        for field in dataclasses.fields(self):
            self._check_field(field, getattr(self, field.name))

    def _check_field(self, field: dataclasses.Field, value: Any) -> None:
        kind, meta = field.type, field.metadata
        if kind is float and type(value) is int:
            object.__setattr__(self, field.name, float(value))
        elif type(value) is not kind:
            raise self._refusal(field, value, KINDS[kind])
        if meta["choices"] and value not in meta["choices"]:
            raise self._refusal(field, value, "one of " + ", ".join(meta["choices"]))
        if meta["within"] and (math.isnan(value) or not lies_within(value, meta["within"])):
            raise self._refusal(field, value, f"{KINDS[kind]} in {meta['within']}")

    def _refusal(self, field: dataclasses.Field, value: Any, rule: str) -> ArgumentError:
        unit = f" {field.metadata['unit']}" if field.metadata["unit"] else ""
        return ArgumentError(
            f"{type(self).__name__}: expected {field.name} ({field.metadata['help']}) to be {rule}; got {value!r}",
            fix=f"{field.name}={field.default!r}{unit} is the default.",
        )

    def replace(self, **changes: Any) -> Self:
        """A copy with some values changed, checked again."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The values by name, ready for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The settings whose values `to_dict` gave; a name that is unknown is an error, one that is absent takes its default."""
        names = [field.name for field in dataclasses.fields(cls)]
        unknown = sorted(set(values) - set(names))
        if unknown:
            raise ArgumentError(
                f"{cls.__name__}: unknown setting{'s' * (len(unknown) > 1)} {', '.join(unknown)}",
                fix=f"known are {', '.join(names)}.",
            )
        return cls(**values)


def check_heads(config: Any) -> None:
    """Refuse a width that its heads do not divide, and name the numbers of heads that would."""
    if config.d_model % config.heads:
        divisors = [str(h) for h in range(1, min(config.d_model, 64) + 1) if config.d_model % h == 0]
        raise ArgumentError(
            f"{type(config).__name__}: d_model={config.d_model} is not divisible by heads={config.heads}",
            fix=f"heads in {{{', '.join(divisors)}}}.",
        )
