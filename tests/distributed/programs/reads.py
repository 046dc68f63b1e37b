"""badak's command, which writes into FOLDER what each rank reads to learn from: `reads.py FOLDER train ...`."""

import json
import os
import sys
from pathlib import Path

from badak.cli import main
from badak.data.fetch import MapFetcher

folder, fetch, read = Path(sys.argv[1]), MapFetcher.fetch, []


def noted(self, index):
    """Read, and note what."""
    read.append((type(self.dataset).__name__, [int(i) for i in index]))
    return fetch(self, index)


MapFetcher.fetch = noted
sys.argv = sys.argv[:1] + sys.argv[2:]
try:
    code = main(sys.argv[1:])
finally:
    (folder / f"read-{os.environ.get('RANK', 0)}.json").write_text(json.dumps(read))
sys.exit(code)
