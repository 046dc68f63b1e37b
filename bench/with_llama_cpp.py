"""badak beside llama.cpp on the same GGUF files: `python -m bench.with_llama_cpp [SHAPE ...]`.

Random weights in the shapes of real models, written by badak and read by both. Each library has a process of its own, which waits
while the other one computes; they take turns. Of each: tokens a second, read at once (512) and written one by one (128 more,
greedy), what the process takes in memory, and how far the logits of the prompt are apart. A token reads the
file once and badak's cache once; the rate at which memory is read is measured before and after each of badak's turns.
Needs llama-cpp-python, which builds from source: pip install llama-cpp-python. Built with GCC 12 its AMX kernels fault: GCC leaves
out what is stored before ldtilecfg (`ggml_tile_config_init`), an `asm volatile("" : : "m"(tc) : "memory")` before it helps.

`--streams 1,4,16` measures the servers instead, badak's and llama.cpp's own, which xllamacpp holds, with so many clients at
once, each with a prompt and a seed of its own. `--llama-python` names the Python that has xllamacpp.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from badak.inspect.profiling.machine import describe, environment, peak_mb
from badak.inspect.profiling.serving import Load, measure, served
from bench.conditions import conditions
from bench.places import keep, place
from bench.rates import measure as measured_rates

PROMPT, WRITTEN = 512, 128
ASKED, ANSWERED = 64, 64  # tokens of a client's prompt and of its answer
SAMPLED = {"top_k": 40, "top_p": 1.0, "min_p": 0.0}  # in either library
SHAPES = {  # name: (class, sizes)
    "gpt2": ("GPT", dict(vocab_size=50257, context=1024, d_model=768, heads=12, layers=12)),
    "qwen3-0.6b": ("Llama", dict(vocab_size=151936, context=2048, d_model=1024, heads=16, num_key_value_heads=8, head_dim=128,
                                 layers=28, feedforward=3072, rope_theta=1e6, norm_eps=1e-6, qk_norm=True)),
    "llama-3.2-1b": ("Llama", dict(vocab_size=128256, context=2048, d_model=2048, heads=32, num_key_value_heads=8, layers=16,
                                   feedforward=8192, rope_theta=5e5)),
}  # fmt: skip


def write(shape: str, form: str, path: str) -> None:
    """A file of random weights. The output norm keeps logits in a range where a greedy token is clear."""
    import badak
    from badak import models
    from badak.data.gguf_tokens import GGML
    from badak.io.gguf import write_gguf
    from badak.models.gguf import model_as_gguf

    kind, sizes = SHAPES[shape]
    badak.manual_seed(0)
    config = getattr(models, f"{kind}Config")(**sizes)
    model = getattr(models, kind)(config)
    facts, tensors = model_as_gguf(model if form == "f32" else badak.quantize(model, form))
    size = config.vocab_size
    words = {"model": "llama", "tokens": [f"t{number} " for number in range(size)], "scores": [0.0] * size,
             "token_type": [1] * size, "add_bos_token": False, "add_space_prefix": False}  # fmt: skip
    write_gguf(path, facts | {f"{GGML}{name}": value for name, value in words.items()}, tensors)


def cache_bytes(shape: str) -> int:
    """What badak reads of its key-value cache for a token, on average: float32."""
    sizes = SHAPES[shape][1]
    width = sizes.get("num_key_value_heads", sizes["heads"]) * sizes.get("head_dim", sizes["d_model"] // sizes["heads"])
    return 2 * 4 * sizes["layers"] * width * (PROMPT + WRITTEN // 2)


def ids_of(size: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, size, PROMPT)


class Badak:
    """badak's own model and cache, compiled as `badak generate` does."""

    def __init__(self, path: str, threads: int):
        import badak
        from badak.io.gguf import read_gguf
        from badak.models.gguf import read_model

        badak.set_num_threads(threads)
        self.badak, self.model = badak, read_model(read_gguf(path), path)
        self.model.compile()
        self.ids = badak.tensor(ids_of(self.model.config.vocab_size))[None]

    def logits(self) -> np.ndarray:
        """Of every 64th place of the prompt."""
        with self.badak.no_grad():
            return self.model(self.ids)[0, ::64].numpy()

    def turn(self) -> dict[str, float]:
        from badak.generation import GenerationConfig, generate

        config = GenerationConfig(max_new_tokens=1, temperature=0.0, top_k=0)
        start = perf_counter()
        generate(self.model, self.ids, config)
        read = perf_counter() - start
        more = GenerationConfig(max_new_tokens=1 + WRITTEN, temperature=0.0, top_k=0)
        start = perf_counter()
        generate(self.model, self.ids, more)
        return {"prefill": PROMPT / read, "decode": WRITTEN / (perf_counter() - start - read)}


class LlamaCpp:
    """llama.cpp through its own low level interface: batches of tokens in, logits out."""

    def __init__(self, path: str, threads: int):
        import llama_cpp

        self.lib = llama_cpp
        self.model = llama_cpp.Llama(path, n_ctx=PROMPT + WRITTEN + 8, n_batch=PROMPT, n_ubatch=PROMPT, n_threads=threads,
                                     n_threads_batch=threads, logits_all=True, verbose=False)  # fmt: skip
        self.size = self.model.n_vocab()
        self.ids = ids_of(self.size).tolist()
        self.batch = llama_cpp.llama_batch_init(PROMPT, 0, 1)

    def read(self, tokens: list[int], at: int, every: bool = False) -> None:
        """Put tokens in; logits of the last one, or of all."""
        batch = self.batch
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, at + i, 1, 0
            batch.logits[i] = every or i == len(tokens) - 1
        if self.lib.llama_decode(self.model.ctx, batch):
            raise RuntimeError("llama_decode")

    def clear(self) -> None:
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.model.ctx), True)

    def out(self, at: int) -> np.ndarray:
        return np.ctypeslib.as_array(self.lib.llama_get_logits_ith(self.model.ctx, at), (self.size,))

    def logits(self) -> np.ndarray:
        self.clear()
        self.read(self.ids, 0, every=True)
        return np.stack([self.out(at).copy() for at in range(0, PROMPT, 64)])

    def turn(self) -> dict[str, float]:
        self.clear()
        start = perf_counter()
        self.read(self.ids, 0)
        token = int(self.out(-1).argmax())
        read = perf_counter()
        for at in range(PROMPT, PROMPT + WRITTEN):
            self.read([token], at)
            token = int(self.out(-1).argmax())
        return {"prefill": PROMPT / (read - start), "decode": WRITTEN / (perf_counter() - read)}


def work(library: str, path: str, threads: int) -> None:
    """Answer a line on stdin with a line on stdout: logits go into a file, a turn gives its rates."""
    model = {"badak": Badak, "llama.cpp": LlamaCpp}[library](path, threads)
    for line in sys.stdin:
        if line.startswith("logits"):
            np.save(line.split()[1], model.logits())
            print("{}", flush=True)
        else:
            found = model.turn() | {"memory": peak_mb()}
            print(json.dumps(found), flush=True)


def ask(worker: subprocess.Popen, line: str) -> dict[str, float]:
    worker.stdin.write(line + "\n")
    worker.stdin.flush()
    answer = worker.stdout.readline()
    if not answer:
        raise SystemExit(f"{worker.args[4]}: it has ended")
    return json.loads(answer)


def reading(threads: int) -> float:
    """GB/s at which memory is read now."""
    return measured_rates(threads, 3, 32 * 2**20)["read_gb_s"]


def beside(shape: str, form: str, threads: int, turns: int, folder: str) -> dict[str, Any]:
    """Print what both do with one file, and return it."""
    path = f"{folder}/{shape}-{form}.gguf"
    subprocess.run([sys.executable, "-m", "bench.with_llama_cpp", "--write", shape, form, path], check=True)
    env = environment(threads) | {"OMP_WAIT_POLICY": "passive"}
    workers = {
        name: subprocess.Popen([sys.executable, "-m", "bench.with_llama_cpp", "--work", name, path, str(threads)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        for name in ("badak", "llama.cpp")
    }  # fmt: skip
    for name, worker in workers.items():
        ask(worker, f"logits {folder}/{name}.npy")
    ours, theirs = (np.load(f"{folder}/{name}.npy") for name in workers)
    apart = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
    same = (ours.argmax(-1) == theirs.argmax(-1)).mean()
    for worker in workers.values():
        ask(worker, "turn")  # compiled, and in memory
    found = {name: [] for name in workers}
    read = []  # before and after each turn of badak
    for _ in range(turns):
        read.append(reading(threads))
        found["badak"].append(ask(workers["badak"], "turn"))
        read.append(reading(threads))
        found["llama.cpp"].append(ask(workers["llama.cpp"], "turn"))
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    size = Path(path).stat().st_size
    best = {name: {key: float(np.median([one[key] for one in rows])) for key in rows[0]} for name, rows in found.items()}
    for name, one in best.items():
        print(f"{shape:14} {form} {name:10} prefill {one['prefill']:8.1f}/s  decode {one['decode']:7.2f}/s "
              f"({one['decode'] * size / 1e9:5.1f} GB/s of the file)  {one['memory']:6.0f} MiB")  # fmt: skip
    ratio = {key: best["badak"][key] / best["llama.cpp"][key] for key in ("prefill", "decode")}
    pairs = [a["decode"] / b["decode"] for a, b in zip(*found.values())]
    print(f"{shape:14} {form} badak / llama.cpp: prefill {ratio['prefill']:.2f}, decode {ratio['decode']:.2f} (by turn "
          f"{min(pairs):.2f} to {max(pairs):.2f}); logits {apart:.4f} apart, {same:.0%} same greedy token; file {size >> 20} MiB",
          flush=True)  # fmt: skip
    os.unlink(path)
    token = (size + cache_bytes(shape)) / 1e9
    shares = [2 * one["decode"] * token / (read[2 * i] + read[2 * i + 1]) for i, one in enumerate(found["badak"])]
    print(f"{shape:14} {form} file and cache {best['badak']['decode'] * token:.1f} GB/s; memory read at {min(read)} to {max(read)} "
          f"GB/s; share of it {np.median(shares):.0%} (by turn {min(shares):.0%} to {max(shares):.0%})", flush=True)  # fmt: skip
    return {
        "shape": shape, "form": form, **best, "apart": float(apart), "file_mb": size / 2**20,
        "cache_mb": cache_bytes(shape) / 2**20, "read_gb_s": float(np.median(read)), "share_read": float(np.median(shares)),
    }  # fmt: skip


@contextmanager
def llama_served(python: str, path: str, streams: int, threads: int, env: dict[str, str]) -> Iterator[tuple[int, int, str]]:
    """(port, id, version) of a process that serves a file by llama.cpp."""
    line = [python, str(Path(__file__).with_name("llama_server.py")), path, str(streams), str(2 * (ASKED + ANSWERED)), str(threads)]
    with subprocess.Popen(
        line, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
    ) as worker:
        try:
            address, version = worker.stdout.readline().split()
            yield int(address.rpartition(":")[2]), worker.pid, version
        finally:
            worker.stdin.close()


def told(row: dict[str, Any], name: str) -> None:
    """Print what one server did."""
    one = row[name]
    print(f"{row['shape']:10} {row['form']:5} {row['streams']:3} x {name:10}{one['tokens']:7.1f} tokens/s "
          f"({one['least']:.1f} to {one['most']:.1f})  first token {1e3 * one['first']:6.0f} ms {one['memory']:6.0f} MiB  "
          f"same texts: {'yes' if one['same'] else 'NO'}", flush=True)  # fmt: skip


def servers(shape: str, form: str, wanted: argparse.Namespace, folder: str) -> list[dict[str, Any]]:
    """Print what both servers do with one file, and return a row for each number of clients."""
    path, counts = f"{folder}/{shape}-{form}.gguf", [int(one) for one in wanted.streams.split(",")]
    subprocess.run([sys.executable, "-m", "bench.with_llama_cpp", "--write", shape, form, path], check=True)
    env = environment(wanted.threads) | {"OMP_WAIT_POLICY": "passive"}
    most = str(max(counts))
    with (
        served(path, "--streams", most, "--queue", most, env=env | {"BADAK_NUM_THREADS": str(wanted.threads)}) as ours,
        llama_served(wanted.llama_python, path, max(counts), wanted.threads, env) as theirs,
    ):
        ports = {"badak": ours[0], "llama.cpp": theirs[0]}
        found: dict[tuple[str, int], list[Load]] = {(name, count): [] for name in ports for count in counts}
        for turn in range(1 + wanted.turns):  # in the first, kernels are compiled and steps recorded
            for count in counts:
                for name, port in ports.items():
                    load = measure(port, count, ASKED, ANSWERED, **SAMPLED)
                    found[name, count] += [load] if turn else []
        memory = {"badak": peak_mb(ours[1]), "llama.cpp": peak_mb(theirs[1])}
    rows = []
    for count in counts:
        row: dict[str, Any] = {"shape": shape, "form": form, "streams": count, "version": theirs[2]}
        for name in ports:
            loads = found[name, count]
            rates = sorted(load.tokens_per_second for load in loads)
            known = found[name, max(counts)][0].texts
            row[name] = {
                "tokens": float(np.median(rates)), "least": rates[0], "most": rates[-1], "memory": memory[name],
                "first": float(np.median([load.first_median for load in loads])),
                "same": all(text == other for load in loads for text, other in zip(load.texts, known)),
            }  # fmt: skip
            told(row, name)
        pairs = [a.tokens_per_second / b.tokens_per_second for a, b in zip(*(found[name, count] for name in ports))]
        row["ratio"] = [float(np.median(pairs)), min(pairs), max(pairs)]
        print(f"{'':23}badak / llama.cpp {row['ratio'][0]:.2f} (by turn {min(pairs):.2f} to {max(pairs):.2f})", flush=True)
        rows.append(row)
    os.unlink(path)
    return rows


def main() -> None:
    """Print a few lines for each shape and format."""
    parser = argparse.ArgumentParser(prog="python -m bench.with_llama_cpp", description="badak beside llama.cpp.")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(SHAPES)}; all without one")
    parser.add_argument("--forms", default="q4_0,q8_0", help="formats, with commas between; f32 for numbers as they are")
    parser.add_argument("--streams", metavar="N,N", help="measure the servers with so many clients at once")
    parser.add_argument("--llama-python", default=sys.executable, metavar="PYTHON", help="which has xllamacpp, for --streams")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--add", action="store_true", help="keep the rows of other shapes and formats that the file holds")
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.write:
        write(*wanted.write)
        return
    if wanted.work:
        work(*wanted.work[:2], int(wanted.work[2]))
        return
    if wrong := set(wanted.shapes) - set(SHAPES):
        parser.error(f"{', '.join(sorted(wrong))}: expected shapes of {', '.join(SHAPES)}")
    machine = describe(wanted.threads)
    rates = measured_rates(wanted.threads, 5, 32 * 2**20)
    print(f"{machine['cpu']}, {wanted.threads} threads; memory read at {rates['read_gb_s']} GB/s", flush=True)
    with tempfile.TemporaryDirectory() as folder, conditions() as taken:
        pairs = [(shape, form) for shape in wanted.shapes or SHAPES for form in wanted.forms.split(",")]
        if wanted.streams:
            rows = [row for shape, form in pairs for row in servers(shape, form, wanted, folder)]
        else:
            rows = [beside(shape, form, wanted.threads, wanted.turns, folder) for shape, form in pairs]
    path = place("serving" if wanted.streams else "llama_cpp", threads=wanted.threads)
    before = json.loads(path.read_text(encoding="utf-8"))["rows"] if wanted.add and path.exists() else []
    rows = [row for row in before if (row["shape"], row["form"]) not in pairs] + rows
    keep(path, {"machine": machine, "read_gb_s": rates["read_gb_s"], "rows": rows, **taken})


if __name__ == "__main__":
    main()
