"""A file that the source or a page names is there."""

import io
import re
import tokenize
from pathlib import Path

import pytest

from tests.sources import PACKAGE

pytestmark = pytest.mark.slow

ROOT = PACKAGE.parent.parent
EXAMPLES = {"train.py", "TRAIN.py", "prog.py", "program.py", "test.py", "file.py"}
NAMED = re.compile(r"(?<![\w/.<{*-])((?:[\w-]+/)*[\w-]+\.(?:py|md))\b(?![/\w*])")


def there(name: str, near: Path) -> bool:
    """Whether a path from the file's folder, or any folder above it up to the root, leads to a file."""
    folders = [near, *(above for above in near.parents if above == ROOT or ROOT in above.parents), ROOT / "src", ROOT / "docs"]
    return any((folder / name).is_file() for folder in folders)


@pytest.mark.parametrize("room", sorted(path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"))
def test_files_named_in_the_source_are_there(room):
    files = sorted((PACKAGE / room).rglob("*.py")) if (PACKAGE / room).is_dir() else [PACKAGE / room]
    lost = []
    for path in (path for path in files if path.suffix == ".py"):
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            comment = token.type == tokenize.COMMENT
            if comment or (token.type == tokenize.STRING and token.string.startswith('"""')):
                names = NAMED.findall(token.string)
                lost += [f"{path}:{token.start[0]}: {n}" for n in names if n not in EXAMPLES and not there(n, path.parent)]
    assert not lost
