"""The caches of the CPU, where the system says how large they are."""

from pathlib import Path

_USUAL = 1 << 20


def _second_cache(folder=Path("/sys/devices/system/cpu/cpu0/cache/index2")):
    """Bytes of the second cache for one core; where that is not known, what many CPUs have."""
    try:
        size, sharing = (folder / "size").read_text().strip(), (folder / "shared_cpu_list").read_text().strip()
        size = int(size[:-1]) << {"K": 10, "M": 20}[size[-1]]
        spans = [part.partition("-") for part in sharing.split(",")]
        users = sum(int(last or first) - int(first) + 1 for first, _, last in spans)
    except (OSError, ValueError, KeyError, IndexError):
        return _USUAL
    return 2 * size // max(users, 2)  # two are threads of one core, which rarely multiply at once; more are cores


SECOND_CACHE = _second_cache()
