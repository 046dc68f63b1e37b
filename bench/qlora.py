"""LoRA with peft, badak with weights of 4 bits next to PyTorch with bfloat16: `python -m bench.qlora`.

Random weights in the shape of Qwen3-0.6B, as transformers makes it; peft puts adapters of rank 8 on all Linear layers of the
blocks, AdamW teaches them. The program is the same for both but for `badak.quantize(model, "q4_0")`. Each library has a process of
its own, which waits while the other one computes; they take turns. Memory is the most that the process took from the first step
on; what the weights take is next to it.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from badak.inspect.profiling.machine import describe, environment, peak_mb
from bench.conditions import conditions
from bench.places import keep, place

SHAPE = dict(vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
             num_key_value_heads=8, head_dim=128, max_position_embeddings=2048, rope_theta=1e6, rms_norm_eps=1e-6,
             tie_word_embeddings=True)  # fmt: skip
TINY = SHAPE | dict(vocab_size=512, num_hidden_layers=2)
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
FORMS = {"badak": "q4_0", "torch": "bfloat16"}


class Program:
    """A model with adapters, its optimizer and a batch."""

    def __init__(self, library: str, batch: int, tokens: int, tiny: bool):
        if library == "badak":
            import badak.as_torch  # noqa: F401 (from here on torch is badak)
        import peft
        import torch
        import transformers

        torch.manual_seed(0)
        config = transformers.Qwen3Config(**(TINY if tiny else SHAPE), use_cache=False)
        torch.set_default_dtype(torch.bfloat16 if library == "torch" else torch.float32)
        model = transformers.Qwen3ForCausalLM(config)
        torch.set_default_dtype(torch.float32)
        if library == "badak":
            badak.quantize(model, FORMS[library])
        held = {t.data_ptr(): t.numel() * t.element_size() for t in [*model.parameters(), *model.buffers()]}
        self.weights = sum(held.values()) / 2**20
        wanted = peft.LoraConfig(r=8, lora_alpha=16, target_modules=TARGETS, task_type="CAUSAL_LM")
        self.model = peft.get_peft_model(model, wanted).train()
        learning = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(learning, lr=1e-3)
        self.ids = torch.randint(config.vocab_size, (batch, tokens), generator=torch.Generator().manual_seed(1))
        forget_peak()

    def turn(self) -> dict[str, float]:
        start = perf_counter()
        loss = self.model(input_ids=self.ids, labels=self.ids).loss
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        loss = loss.item()
        return {"tokens": self.ids.numel() / (perf_counter() - start), "loss": loss, "memory": peak_mb(), "weights": self.weights}


def forget_peak() -> None:
    """The most memory that this process takes counts from here."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def work(library: str, *sizes: str) -> None:
    """Answer each line on stdin with a line on stdout: what a step took."""
    batch, tokens, tiny = map(int, sizes)
    program = Program(library, batch, tokens, bool(tiny))
    for _ in sys.stdin:
        print(json.dumps(program.turn()), flush=True)


def ask(worker: subprocess.Popen) -> dict[str, float]:
    worker.stdin.write("turn\n")
    worker.stdin.flush()
    answer = worker.stdout.readline()
    if not answer:
        raise SystemExit("bench.qlora: a worker has ended; what it said stands above")
    return json.loads(answer)


def measure(wanted: argparse.Namespace, tokens: int) -> dict[str, Any]:
    """What both took, step by step in turns."""
    sizes = [str(int(size)) for size in (wanted.batch, tokens, wanted.tiny)]
    workers = {
        name: subprocess.Popen([sys.executable, "-m", "bench.qlora", "--work", name, *sizes], text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=environment(wanted.threads)) for name in FORMS
    }  # fmt: skip
    for worker in workers.values():
        ask(worker)  # compiled, and in memory
    found: dict[str, list] = {name: [] for name in workers}
    for _ in range(wanted.turns):
        for name, worker in workers.items():
            found[name].append(ask(worker))
    for worker in workers.values():
        worker.stdin.close()
        worker.wait()
    rows = {}
    for name, turns in found.items():
        rates = sorted(turn["tokens"] for turn in turns)
        rows[name] = {"form": FORMS[name], "tokens": median(rates), "slowest": rates[0], "fastest": rates[-1],
                      "memory": turns[-1]["memory"], "weights": turns[-1]["weights"],
                      "losses": [turn["loss"] for turn in turns]}  # fmt: skip
    pairs = [a["tokens"] / b["tokens"] for a, b in zip(*found.values())]
    return rows | {"batch": wanted.batch, "length": tokens, "ratio": [median(pairs), min(pairs), max(pairs)]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.qlora", description=__doc__)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--tokens", default="128,256", help="of a sequence; several with commas between")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--tiny", action="store_true", help="a small model, to try the machinery; nothing is kept")
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.work:
        work(*wanted.work)
        return
    machine, rows = describe(wanted.threads), []
    with conditions() as meanwhile:
        for tokens in map(int, wanted.tokens.split(",")):
            rows.append(measure(wanted, tokens))
            told(rows[-1])
    if not wanted.tiny:
        keep(place("qlora", threads=wanted.threads), {"machine": machine, "rows": rows, **meanwhile})


def told(row: dict[str, Any]) -> None:
    """Print what both did."""
    for name in FORMS:
        one = row[name]
        print(f"{row['batch']} x {row['length']} {name:6} {one['form']:9} {one['tokens']:7.1f} tokens/s ({one['slowest']:.1f} to "
              f"{one['fastest']:.1f})  {one['memory']:6.0f} MiB, {one['weights']:.0f} of them weights", flush=True)  # fmt: skip
    print("badak / torch {:.2f} (by turn {:.2f} to {:.2f})".format(*row["ratio"]), flush=True)


if __name__ == "__main__":
    main()
