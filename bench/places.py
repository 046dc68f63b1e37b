"""Where figures are kept: a folder of `bench/results` for each processor, as what is fast on one is a guess on another."""

import json
import re
from pathlib import Path

from badak.measure.machine import processor

RESULTS = Path(__file__).parent / "results"


def place(name: str) -> Path:
    """The file for this kind of figures on this machine's processor."""
    folder = re.sub(r"[^a-z0-9]+", "-", processor().lower()).strip("-")
    return RESULTS / folder / f"{name}.json"


def kept(name: str) -> list[dict]:
    """What has been measured of this kind, one document for each processor."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob(f"*/{name}.json"))]


def keep(path: Path, document: dict) -> None:
    """Write the figures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
