"""Compiles the Korean catalogue when a wheel or an editable install is made.

It makes of each `PACKAGE.po` the `PACKAGE.mo` that badak reads.
"""

import io
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Catalogues(BuildHookInterface):
    """Hatchling calls it before it collects the files of the package."""

    def initialize(self, version: str, build_data: dict) -> None:
        for path in (Path(self.root) / "src").rglob("LC_MESSAGES/*.po"):
            with path.open("rb") as source:
                compiled = io.BytesIO()
                write_mo(compiled, read_po(source, locale="ko"))
            path.with_suffix(".mo").write_bytes(compiled.getvalue())
