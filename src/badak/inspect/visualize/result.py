"""What `badak.look` gives."""

import json
import os
from html import escape
from typing import Any

from badak.core.i18n import language as spoken
from badak.core.public_api.table import reach
from badak.io.atomic import write_file


class Look:
    """One look: `record`, a dict that JSON can hold, and the same as one HTML file that needs nothing else.

    to_html() and save(path) take language="en" or "ko", the one that the page begins in; BADAK_LANG or the locale unless given.
    """

    def __init__(self, record: dict[str, Any]):
        self.record = record

    def to_html(self, language: str | None = None) -> str:
        """The page."""
        return reach("badak.inspect.visualize.page").page(self.record, language or spoken())

    def to_json(self) -> str:
        """The record as text."""
        return json.dumps(self.record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    def save(self, path: str | os.PathLike, language: str | None = None) -> None:
        """Write the page."""
        made = self.to_html(language).encode()
        write_file(path, lambda file: file.write(made) and None)

    def _repr_html_(self) -> str:
        return f'<iframe style="width:100%;height:46rem;border:0" srcdoc="{escape(self.to_html())}"></iframe>'

    def __repr__(self) -> str:
        record = self.record
        tokens = " and ".join(f"{each['length']} {each['name']}" for each in record["sequences"])
        heads = sum(len(each["heads"]) for each in record["attentions"])
        size = f"{tokens}, {len(record['layers'])} layers, {heads} heads"
        return f"Look({record['title']}: {size}); save('look.html') writes the page"
