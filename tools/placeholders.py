"""Write docs/reference/placeholders.md, the names of PyTorch that badak does not have: `python tools/placeholders.py [--check]`."""

import sys
from pathlib import Path

import badak  # noqa: F401  (whose names are listed)
from badak.core.public_api import listed_spaces, names_of, placeholders

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "placeholders.md"
TEXT = """# Placeholders

Written by `tools/placeholders.py`; a test keeps it true.

Under `badak run` and after `import badak.as_torch`, a name of PyTorch 2.13 that badak does not have stops no import. The module
that imports it, or reads it where it defines things, gets a placeholder. A placeholder can be

- imported, stored, compared and hashed,
- subscripted by types, used in annotations and derived from,
- asked for by `isinstance` and `issubclass` (nothing is one),
- used as a decorator: the decorated function complains when it is called.

Any other use raises an error of two lines: the name, and what to use instead. `hasattr(torch, name)` is False, and an
`import` or an attribute in the body of a `try` raises as usual, so that the program takes its other path.
`badak run --check prog.py` lists the placeholders that a program meets.

These public names are placeholders, and every private name of PyTorch that badak does not have.

{names}
"""


def page() -> str:
    """The whole page."""
    parts = []
    for space in listed_spaces():
        names = placeholders(space)
        title = f"torch.{space}".rstrip(".")
        parts.append(f"**{title}**: {len(names)} of {len(names_of(space))}")
        if names:
            parts.append(f"<details><summary>{len(names)} names</summary>\n\n{', '.join(names)}\n\n</details>")
    return TEXT.format(names="\n\n".join(parts))


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "out of date: python tools/placeholders.py")
    PAGE.write_text(page(), encoding="utf-8")
