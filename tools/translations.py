"""Note in a Korean page which English page it was translated from: `python tools/translations.py docs/ko/PAGE.md ...`.

The last line of docs/ko/X.md holds the hash of docs/X.md. A test compares them, and names a page whose English changed after
its Korean.
"""

import hashlib
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
KOREAN = DOCS / "ko"
NOTE = re.compile(r"\n<!-- English: (\w+) -->\n\Z")


def translated() -> list[Path]:
    """The Korean pages that have an English one and are not indices, which are written by themselves."""
    return sorted(path for path in KOREAN.rglob("*.md") if path.name != "index.md" and english_of(path).is_file())


def english_of(page: Path) -> Path:
    """The English page of a Korean one."""
    return DOCS / page.relative_to(KOREAN)


def hash_of(page: Path) -> str:
    """Of a page's text without its white space."""
    return hashlib.sha256(" ".join(page.read_text(encoding="utf-8").split()).encode()).hexdigest()[:16]


def noted(page: Path) -> str | None:
    """The hash that a Korean page holds."""
    found = NOTE.search(page.read_text(encoding="utf-8"))
    return found and found[1]


def note(page: Path) -> None:
    """Write the hash of the English page into a Korean one."""
    text = NOTE.sub("", page.read_text(encoding="utf-8")).rstrip("\n")
    page.write_text(f"{text}\n\n<!-- English: {hash_of(english_of(page))} -->\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        note(Path(name).resolve())
