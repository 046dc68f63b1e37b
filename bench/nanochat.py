"""nanochat's own stages, unchanged, at a small depth on the CPU: `python -m bench.nanochat CHECKOUT [--out FILE]`.

CHECKOUT is a clone of https://github.com/karpathy/nanochat at COMMIT; beside badak and PyTorch it wants
`pip install rustbpe tiktoken wandb filelock pyarrow requests psutil jinja2`. Each stage is one process, first with PyTorch
(`python -m scripts.STAGE`), then with badak (`badak run -m scripts.STAGE`), each library with its own checkpoints.

nanochat downloads its data. Here stories, dialogues and sums that badak writes lie where the downloads would: the programs, their
formats and the arithmetic are nanochat's, the scores say nothing of its data. What cannot run without a network is in LEFT_OUT.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from badak.cli.course.questions import story_questions, sums
from badak.data.stories import stories
from bench.conditions import conditions

COMMIT = "92d63d4e8bb4df75c3b71618f31ddde2378b2bcd"
SHAPE = ("--depth=2", "--aspect-ratio=64", "--head-dim=64", "--max-seq-len=128", "--window-pattern=L")
STAGES = {  # by name: the module and its options
    "tok_train": ("scripts.tok_train", "--max-chars=2000000", "--vocab-size=512"),
    "base_train": (
        "scripts.base_train", *SHAPE, "--device-batch-size=8", "--total-batch-size=1024", "--num-iterations=40", "--eval-every=-1",
        "--eval-tokens=2048", "--core-metric-every=-1", "--sample-every=-1",
    ),
    "base_eval": ("scripts.base_eval", "--eval=bpb,sample", "--device-batch-size=4", "--split-tokens=2048"),
    "chat_sft": (
        "scripts.chat_sft", "--num-iterations=40", "--eval-every=-1", "--eval-tokens=2048", "--chatcore-every=-1",
        "--mmlu-epochs=1", "--gsm8k-epochs=1",
    ),
    "chat_rl": (
        "scripts.chat_rl", "--device-batch-size=4", "--examples-per-step=2", "--num-samples=4", "--max-new-tokens=24",
        "--eval-every=4", "--eval-examples=2", "--save-every=4",
    ),
    "chat_eval": ("scripts.chat_eval", "-i", "rl", "-a", "GSM8K|MMLU|ARC-Easy|ARC-Challenge", "-m", "16", "-x", "8", "-b", "2"),
    "chat_cli": ("scripts.chat_cli", "-i", "rl", "-p", "What is 12 + 30?", "-t", "0"),
}  # fmt: skip
LEFT_OUT = {
    "tok_eval": "compares with the tokenizers of GPT-2 and GPT-4, which tiktoken downloads",
    "base_eval --eval core": "the CORE tasks are an archive of 160 MB that it downloads",
    "chat_eval -a HumanEval": "problems of OpenAI, downloaded; no stand-in would be one",
}
RATE = re.compile(r"tok/sec: ([\d,]+)")


def write_data(base: Path) -> None:
    """What nanochat would download, of stories and sums that badak writes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def shard(place: Path, rows: list[dict[str, Any]]) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), place, row_group_size=256)

    def task(slug: str, subset: str, split: str, rows: list[dict[str, Any]]) -> None:
        place = base / "task_data" / slug / subset / split
        shard(place / "00000.parquet", rows)
        (place / "manifest.json").write_text(json.dumps(["00000.parquet"]))

    told, rng = stories("en", 3_000), random.Random(0)
    for number, part in enumerate((told[:1_400], told[1_400:2_800], told[2_800:])):
        shard(base / "base_data_climbmix" / f"shard_{number:05d}.parquet", [{"text": text} for text in part])
    talks = [
        {"messages": [{"role": "user", "content": one.question}, {"role": "assistant", "content": one.answer}]}
        for one in story_questions(told, "en", 0)
    ]
    task("HuggingFaceTB--smol-smoltalk", "default", "train", talks[:2_000])
    task("HuggingFaceTB--smol-smoltalk", "default", "test", talks[2_000:2_200])
    added = [{"question": f"What is {x} + {y}?", "answer": f"<<{x}+{y}={x + y}>>{x + y}\n#### {x + y}"} for x, y in sums(0)[:436]]
    # chat_sft takes the first 420 and 5,200 rows of these two tests, so there are as many
    task("openai--gsm8k", "main", "train", added[:16])
    task("openai--gsm8k", "main", "test", added[16:])
    for split, pairs in (("auxiliary_train", sums(1)[:400]), ("test", sums(1)[400:5_600])):
        task("cais--mmlu", "all", split, [{**chosen(x, y, rng), "subject": "elementary_mathematics"} for x, y in pairs])
    for subset in ("ARC-Easy", "ARC-Challenge"):
        rows = [chosen(x, y, rng) for x, y in sums(2)[:40]]
        for row in rows:
            row |= {"answerKey": "ABCD"[row.pop("answer")], "choices": {"text": row["choices"], "label": list("ABCD")}}
        task("allenai--ai2_arc", subset, "test", rows)


def chosen(x: int, y: int, rng: random.Random) -> dict[str, Any]:
    """A sum with four answers to choose from."""
    totals = [x + y, x + y - 10, x + y + 1, x + y + 10]
    rng.shuffle(totals)
    return {"question": f"What is {x} + {y}?", "choices": [str(total) for total in totals], "answer": totals.index(x + y)}


def run_stage(name: str, checkout: Path, base: Path, library: str) -> dict[str, Any]:
    """One stage in a process of its own: seconds, the median of the tokens per second that it prints, its last lines."""
    module, *options = STAGES[name]
    before = ["-m", "badak", "run", "-m"] if library == "badak" else ["-m"]
    own = {"NANOCHAT_BASE_DIR": str(base), "WANDB_MODE": "disabled", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": str(os.cpu_count())}
    since = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *before, module, *options],
        cwd=checkout,
        env=os.environ | own,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    seconds = time.perf_counter() - since
    rates = sorted(int(rate.replace(",", "")) for rate in RATE.findall(done.stdout))
    said = (done.stdout if done.returncode == 0 else done.stdout + done.stderr).strip().split("\n")
    return {"ok": done.returncode == 0, "seconds": seconds, "tokens_per_second": rates[len(rates) // 2] if rates else None,
            "said": said[-12:]}  # fmt: skip


def middle(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The last of several turns of a stage, with the medians of their seconds and rates; a turn that failed, where one did."""
    failed = [row for row in rows if not row["ok"]]
    if failed:
        return failed[0]
    rates = [row["tokens_per_second"] for row in rows if row["tokens_per_second"]]
    return rows[-1] | {
        "seconds": statistics.median(row["seconds"] for row in rows),
        "tokens_per_second": round(statistics.median(rates)) if rates else None,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run all stages with both libraries; the number of those that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--libraries", nargs="+", default=["torch", "badak"], choices=["torch", "badak"])
    parser.add_argument("--stages", nargs="+", default=list(STAGES), choices=list(STAGES))
    parser.add_argument("--rounds", type=int, default=1, help="turns of each library in each stage; the medians count")
    parser.add_argument("--base", type=Path, help="keep data and checkpoints here, a folder for each library")
    parser.add_argument("--out", type=Path, help="write the figures here, as JSON")
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: expected at least 1")
    head = subprocess.run(["git", "-C", given.checkout, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    changes = subprocess.run(["git", "-C", given.checkout, "status", "--porcelain", "-uno"], capture_output=True, text=True).stdout
    if head != COMMIT or changes:
        raise SystemExit(f"{given.checkout} is at {head or 'no commit'}{' with changes' * bool(changes)}; wanted {COMMIT}")
    found: dict[str, Any] = {"commit": COMMIT, "left_out": LEFT_OUT, "stages": {}}
    base = given.base or Path(tempfile.mkdtemp())
    for library in given.libraries:
        if not (base / library).exists():
            write_data(base / library)
    with conditions() as taken:
        for name in given.stages:
            turns = [
                {library: run_stage(name, given.checkout, base / library, library) for library in given.libraries}
                for _ in range(given.rounds)
            ]
            rows = found["stages"][name] = {library: middle([turn[library] for turn in turns]) for library in given.libraries}
            for library, row in rows.items():
                rate = f"{row['tokens_per_second']:>8,} tokens/s" if row["tokens_per_second"] else ""
                print(f"{name:12} {library:6} {'ok' if row['ok'] else 'FAILED'} {row['seconds']:7.1f} s {rate}", flush=True)
                if not row["ok"]:
                    print("    " + "\n    ".join(row["said"]), flush=True)
    found |= taken
    if given.out:
        given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return sum(not row["ok"] for rows in found["stages"].values() for row in rows.values())


if __name__ == "__main__":
    sys.exit(main())
