"""Train a translator on German and English captions and count its BLEU: `python -m bench.translate DIR`.

DIR is a folder of Multi30k (train, val and test_2016_flickr, each with .de and .en, .gz or not). Two commands do it, which this
file only times and writes down, in bench/results/translate.json and bench/results/logs/translate.csv:

    badak train translate --data DIR --precision bf16 --run RUN            26 epochs
    badak translate RUN --in test_2016_flickr.de --reference test_2016_flickr.en

`--count-only RUN` counts the BLEU of a run that is there already.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from badak.data.bitext import read_lines
from badak.inspect.profiling.machine import processor
from badak.training.run import METRICS, Run
from bench.conditions import conditions

RESULTS = Path(__file__).resolve().parent / "results" / "translate.json"
TESTS = ("test_2016_flickr", "test_2017_flickr")


def badak(*arguments: str) -> str:
    """Run a command of badak; what it prints besides its results."""
    done = subprocess.run([sys.executable, "-m", "badak", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stderr


def count(run: Path, data: Path, test: str, source: str = "de", target: str = "en") -> dict:
    """BLEU, signature and seconds of one test set, beam 5."""
    with tempfile.TemporaryDirectory() as folder:
        plain = {}
        for end in (source, target):
            packed = next(path for path in (data / f"{test}.{end}", data / f"{test}.{end}.gz") if path.exists())
            plain[end] = Path(folder) / f"{test}.{end}"
            plain[end].write_text("\n".join(read_lines(packed)) + "\n", encoding="utf-8")
        with conditions() as taken:
            said = badak("translate", str(run), "--in", str(plain[source]), "--reference", str(plain[target]))
        score, signature = re.search(r"BLEU ([\d.]+)   (\S+)", said).groups()
    return {"bleu": float(score), "signature": signature, **taken}


def main(arguments: list[str] | None = None) -> None:
    """Train, count, write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--run", type=Path, default=Path("runs/translate"))
    parser.add_argument("--count-only", action="store_true", help="the run is there already")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--log", type=Path, default=RESULTS.parent / "logs" / "translate.csv")
    given = parser.parse_args(arguments)
    taken = {}
    if not given.count_only:
        with conditions() as taken:
            badak("train", "translate", "--data", str(given.data), "--precision", "bf16", "--run", str(given.run))
        given.log.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(given.run / METRICS, given.log)
    rows = Run.open(given.run).rows()
    columns = ("step", "epoch", "train_loss", "val_loss", "val_perplexity", "per_second")
    there = [test for test in TESTS if any(given.data.glob(f"{test}.*"))]
    found = {
        "machine": processor(),
        "training": taken,
        "tests": {test: count(given.run, given.data, test) for test in there},
        "rows": [{name: round(float(getattr(row, name)), 4) for name in columns} for row in rows],
    }
    given.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({"training": taken, **found["tests"]}, indent=1))


if __name__ == "__main__":
    main()
