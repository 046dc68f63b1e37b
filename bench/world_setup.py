"""What `world` asks an interpreter: `installed torch|badak` for what is installed there, `save FOLDER TINY` for a GPT-2 to read."""

import importlib.util
import json
import sys
from importlib import metadata
from pathlib import Path

NAMED = ("torch", "transformers", "sentence-transformers", "tokenizers", "numpy", "numba")


def installed(library: str) -> dict:
    """Versions, and MiB of the library and of transformers with all that they need."""
    wanted = {"torch": ["torch", "transformers"], "badak": ["badak[fast]", "transformers"]}[library]
    found = closure(wanted)
    versions = {name: version for name in NAMED if (version := found.get(name, ("", 0))[0] or version_of(name))}
    parts = {name: round(size / 2**20, 1) for name, (_, size) in sorted(found.items(), key=lambda item: -item[1][1])}
    return {"versions": versions, "mib": round(sum(parts.values())), "parts": parts}


def version_of(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def closure(wanted: list[str]) -> dict[str, tuple[str, int]]:
    """Every distribution that `wanted` need here: version and bytes of its files."""
    from packaging.requirements import Requirement

    found: dict[str, tuple[str, int]] = {}
    todo = [Requirement(text) for text in wanted]
    while todo:
        need = todo.pop()
        name = need.name.lower().replace("_", "-")
        if name in found:
            continue
        if name == "badak":  # from its folder, where it is not installed
            found[name] = "", folder_bytes("badak")
            todo += [Requirement(text) for text in badak_needs()]
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = distribution.version, sum(size_of(Path(str(file.locate()))) for file in distribution.files or [])
        for text in distribution.requires or []:
            further = Requirement(text)
            extras = need.extras or {""}
            if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras):
                todo.append(further)
    return found


def badak_needs() -> list[str]:
    """What pyproject.toml asks for, with the extra "fast"."""
    import tomllib

    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["fast"]]


def folder_bytes(package: str) -> int:
    """Of all files of a package, without the kernels that were compiled there."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return sum(size_of(path) for path in Path(spec.origin).parent.rglob("*") if not path.match("jit-*/*"))


def size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def save(folder: str, tiny: str) -> None:
    """A GPT-2 with drawn weights, in safetensors."""
    from bench.world_works import build

    build({"name": "gpt2", "tiny": tiny == "1"}).model.save_pretrained(folder)


if __name__ == "__main__":
    if sys.argv[1] == "installed":
        print(json.dumps(installed(sys.argv[2])))
    else:
        save(*sys.argv[2:])
