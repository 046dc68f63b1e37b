"""Where figures are kept: a folder of `bench/results` for each CPU, as what is fast on one is a guess on another."""

import json
import os
import re
from pathlib import Path

from badak.inspect.profiling.machine import processor

RESULTS = Path(__file__).parent / "results"
# What holds each library to the instructions of a CPU without those that came later.
FEATURES = {
    name: {
        "BADAK_CPU": name,
        "ATEN_CPU_CAPABILITY": registers,
        "MKL_ENABLE_INSTRUCTIONS": mkl,
        "ONEDNN_MAX_CPU_ISA": onednn,
        "OPENBLAS_CORETYPE": openblas,
        "XLA_FLAGS": f"--xla_cpu_max_isa={registers.upper()}",
        "CT2_FORCE_CPU_ISA": registers.upper(),
    }
    for name, registers, mkl, onednn, openblas in [
        ("avx2", "avx2", "AVX2", "AVX2", "Haswell"),
        ("avx512", "avx512", "AVX512", "AVX512_CORE", "SkylakeX"),
        ("avx512_vnni", "avx512", "AVX512_E1", "AVX512_CORE_VNNI", "SkylakeX"),
        ("avx512_bf16", "avx512", "AVX512_E3", "AVX512_CORE_BF16", "SkylakeX"),
    ]
}


def place(name: str, features: str | None = None, threads: int | None = None) -> Path:
    """The file for this kind of figures on this machine's CPU; of its own where it is held to features or threads."""
    folder = re.sub(r"[^a-z0-9]+", "-", processor().lower()).strip("-")
    limits = [features] if features else []
    if threads not in (None, os.cpu_count()):
        limits.append(f"{threads}-threads" if threads != 1 else "1-thread")
    return RESULTS / folder / f"{'-'.join([name, *limits])}.json"


def kept(name: str) -> list[dict]:
    """What has been measured of this kind, one document for each CPU, and for each limit that it was held to."""
    paths = sorted([*RESULTS.glob(f"*/{name}.json"), *RESULTS.glob(f"*/{name}-*.json")], key=lambda path: (path.parent, path.stem))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def keep(path: Path, document: dict) -> None:
    """Write the figures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
