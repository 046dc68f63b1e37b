"""Whether two records of a model say the same: bits of weights and tokens, sums of float32 to their last digits."""

import json

SUMS = 2e-5  # of losses, relative
GRADIENTS = 2e-4  # of norms, relative to the longest gradient of the model where the tensor's own is shorter
ROUNDED = 5e-3  # of a gradient's length: where its two numbers are smaller than that, they are what float32 leaves of a sum


def records(printed: str) -> dict[str, dict]:
    """What record.py printed, by name; libraries print empty lines between."""
    kept = [json.loads(line) for line in printed.splitlines() if line.startswith('{"model"')]
    return {each.pop("model"): each for each in kept}


def differences(expected: dict, found: dict) -> list[str]:
    """What differs, in words; nothing where the two are the same."""
    if "error" in found or "error" in expected:
        return [found.get("error") or f"PyTorch: {expected['error']}"]
    if "gives" in expected:
        return unlike(expected["gives"], found["gives"])[:3]
    told = []
    if not _close(found["weights"][1:], expected["weights"][1:], 1e-6):
        told.append("other weights are drawn")
    if not _close(found["losses"], expected["losses"], SUMS):
        told.append(f"losses {found['losses']} for {expected['losses']}")
    told += _gradients(expected["gradients"], found["gradients"])
    if not _close(found["scores"], expected["scores"], GRADIENTS):
        told.append(f"scores {found['scores']} for {expected['scores']}")
    told += [f"{way} writing differs" for way in ("greedy", "sampled", "beams") if found.get(way) != expected.get(way)]
    return told + ([] if found["again"] is True else ["what is saved and read again gives other scores"])


def unlike(expected, found, where: str = "") -> list[str]:
    """Where two values differ that are made of lists, dictionaries, text and numbers; numbers with a point to SUMS."""
    if type(expected) is not type(found):
        return [f"{where} {str(found)[:80]} for {str(expected)[:80]}".strip()]
    if isinstance(expected, dict):
        if list(expected) != list(found):
            return [f"{where} has {sorted(found)[:5]} for {sorted(expected)[:5]}".strip()]
        return [told for name in expected for told in unlike(expected[name], found[name], f"{where}.{name}".strip("."))]
    if isinstance(expected, list) and len(expected) == len(found):
        return [told for n, pair in enumerate(zip(expected, found)) for told in unlike(*pair, f"{where}[{n}]")]
    same = expected == found or (isinstance(expected, float) and _close([found], [expected], SUMS))
    return [] if same else [f"{where} {str(found)[:80]} for {str(expected)[:80]}".strip()]


def same_bits(expected: dict, found: dict) -> bool:
    """Whether all weights are drawn with the same bits; some have other last bits that are computed by sin, exp or log."""
    return found["weights"] == expected["weights"]


def _gradients(expected: dict, found: dict) -> list[str]:
    if set(found) != set(expected):
        return [f"gradients of {sorted(set(found) ^ set(expected))[:3]} on one side only"]
    longest = max(norm for norm, _ in expected.values())
    least = {name: max(1e-3 * longest, ROUNDED * norm) for name, (norm, _) in expected.items()}
    wrong = [name for name, pair in expected.items() if not _close(found[name], pair, GRADIENTS, least[name])]
    return [f"gradients of {wrong[:3]}"] if wrong else []


def _close(xs: list[float], ys: list[float], share: float, least: float = 1.0) -> bool:
    return len(xs) == len(ys) and all(abs(x - y) <= share * max(least, abs(x), abs(y)) for x, y in zip(xs, ys))
