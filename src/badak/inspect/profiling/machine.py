"""What a figure depends on: the CPU, the versions, and who else is computing."""

import os
import platform
from importlib import metadata
from pathlib import Path

PACKAGES = ("numpy", "numba", "torch", "jax", "ctranslate2")
VECTORS = {  # as /proc/cpuinfo says
    "avx2": "AVX2", "avx_vnni": "AVX-VNNI", "avx512f": "AVX-512", "avx512_vnni": "VNNI", "avx512_bf16": "BF16", "amx_tile": "AMX",
    "asimd": "NEON", "sve": "SVE",
}  # fmt: skip
_THREADS = ("BADAK", "OMP", "MKL", "OPENBLAS", "NUMEXPR", "NUMBA")


def describe(threads: int | None = None) -> dict:
    """The machine and the versions, as a JSON file keeps them; by default a thread on every core."""
    return {
        "cpu": processor(),
        "vectors": vectors(),
        "caches": caches(),
        "cores": os.cpu_count(),
        "threads": threads or os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_before": [round(load, 2) for load in load_average()],
        **{name: found for name in PACKAGES if (found := version(name))},
    }


def processor() -> str:
    """Its name, family and model number, as far as the system says (virtual machines call many by one name)."""
    facts = _facts("/proc/cpuinfo")
    if not facts:
        return platform.processor() or platform.machine()
    numbers = " ".join(facts[name] for name in ("cpu family", "model") if name in facts).replace(" ", "/")
    return f"{facts.get('model name', platform.machine())} {numbers}".strip()


def vectors() -> str:
    """The vector and matrix instructions that decide how fast products are, as far as the system says."""
    facts = _facts("/proc/cpuinfo")
    flags = facts.get("flags", facts.get("Features", "")).split()
    return " ".join(name for flag, name in VECTORS.items() if flag in flags)


def caches(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> str:
    """The caches that the first core reads data from, with their sizes, as far as the system says."""
    found = {}
    for place in folder.glob("index*"):
        try:
            level, kind, size = ((place / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            found[level] = f"L{level} {size}"
    return ", ".join(found[level] for level in sorted(found))


def _facts(path: str) -> dict[str, str]:
    """What a file of the system says in its first lines, up to an empty one, by name; nothing where there is no such file."""
    lines = Path(path).read_text().split("\n\n")[0].splitlines() if Path(path).exists() else []
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines if ":" in line)}


def load_average() -> tuple[float, ...]:
    """Programs that wanted a core, over the last 1, 5 and 15 minutes; nothing where the system does not count them."""
    return os.getloadavg() if hasattr(os, "getloadavg") else ()


def version(name: str) -> str | None:
    """The version of an installed package, None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def environment(threads: int) -> dict[str, str]:
    """The environment of a process that computes on so many threads, whatever computes there."""
    return {**os.environ, **{f"{name}_NUM_THREADS": str(threads) for name in _THREADS}, "PYTHONWARNINGS": "ignore"}


def busy_seconds() -> float:
    """CPU seconds that all programs together have used since the machine started; 0 where nobody says."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    user, nice, system, _, _, irq, softirq, steal = map(int, stat.read_text().split(maxsplit=9)[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def available_gb() -> float:
    """Memory that a new process could have, in GiB; endless where the system does not say."""
    facts = _facts("/proc/meminfo")
    return int(facts["MemAvailable"].split()[0]) / 2**20 if facts else float("inf")


def peak_mb(process: int | str = "self") -> float:
    """The most memory that a process has ever held, in MiB; 0 where the system does not say."""
    facts = _facts(f"/proc/{process}/status")
    return int(facts["VmHWM"].split()[0]) / 1024 if facts else 0.0
