"""Turns as one text by a template in the language of Jinja: the work of another process, see `io/limited.py`."""

import datetime
import json
from typing import Any

LETTERS = 1 << 22  # of a text, besides eight for each that the turns have


def answer(question: dict[str, Any]) -> str:
    """The text of a template, its marks and turns; "" where there are no turns: then the template is only read."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    room = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    room.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
    room.globals |= {"raise_exception": _refuse, "strftime_now": lambda form: datetime.datetime.now().strftime(form)}
    made, turns = room.from_string(question["template"]), question["turns"]
    if turns is None:
        return ""
    text = made.render(messages=turns, add_generation_prompt=True, **question["marks"])
    most = LETTERS + 8 * sum(len(one) for turn in turns for one in turn.values())
    if len(text) > most:
        raise ValueError(f"it makes {len(text):,} characters of the turns")
    return text


def _refuse(said: str) -> None:
    raise ValueError(said)
