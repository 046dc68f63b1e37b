"""Look at a wheel and an sdist before they are published: `python tools/release.py dist [--tag v0.1.0]`.

It ends with 1 and a line for each thing that is wrong. With --tag, the tag, the list of changes and the addresses are those of a
release, too.
"""

import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LARGEST = 400_000  # bytes of one file of the wheel: nothing in it is data
WHEEL_LIMIT = 4_000_000  # bytes


def wrong_in_wheel(wheel: Path) -> list[str]:
    """What is missing from a wheel, or should not be in it."""
    with zipfile.ZipFile(wheel) as file:
        sizes = {entry.filename: entry.file_size for entry in file.infolist()}
        metadata = next(file.read(name).decode() for name in sizes if name.endswith(".dist-info/METADATA"))
    sources = (path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".pyi", ".po", ".json", ".js", ".css"))
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in sources} | {"badak/py.typed"}
    wanted |= {name.replace(".po", ".mo") for name in wanted if name.endswith(".po")}
    wanted |= {f"badak-{PROJECT['version']}.dist-info/licenses/LICENSE", "badak/inspect/introspection/errors.md"}
    found = [f"missing: {name}" for name in sorted(wanted - set(sizes))]
    found += [
        f"not of the package: {name}" for name in sizes if not name.startswith(("badak/", f"badak-{PROJECT['version']}.dist-info/"))
    ]
    found += [f"a test or a cache: {name}" for name in sizes if re.search(r"/tests?/|__pycache__|\.nb[ic]$", name)]
    found += [f"large: {name}, {size:,} bytes" for name, size in sizes.items() if size > LARGEST]
    if wheel.stat().st_size > WHEEL_LIMIT:
        found.append(f"large: the wheel, {wheel.stat().st_size:,} bytes")
    declared = {line.split(" ", 1)[1] for line in metadata.splitlines() if line.startswith("Classifier: ")}
    return found + [f"no classifier: {name}" for name in PROJECT["classifiers"] if name not in declared]


def wrong_in_sdist(sdist: Path) -> list[str]:
    """What somebody who builds from the sdist would miss."""
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    wanted = (
        "pyproject.toml",
        "hatch_build.py",
        "LICENSE",
        "README.md",
        "src/badak/py.typed",
        "tests/conftest.py",
        "docs/conf.py",
        "Makefile",
    )
    found = [f"missing: {name}" for name in wanted if name not in names]
    return found + [f"built: {name}" for name in names if re.search(r"__pycache__|^build/|^dist/", name)]


def wrong_for_release(tag: str) -> list[str]:
    """What a tag asks of the repository."""
    version = PROJECT["version"]
    found = [] if tag == f"v{version}" else [f"tag {tag} of version {version}"]
    if not re.search(
        rf"^## \[?{re.escape(version)}\]? - \d{{4}}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    ):
        found.append(f"CHANGELOG.md: no line `## [{version}] - YYYY-MM-DD`")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found += [] if f"\nversion: {version}\n" in citation else [f"CITATION.cff: not version {version}"]
    return found + [
        f"pyproject.toml: {name} = {url} is a placeholder" for name, url in PROJECT["urls"].items() if ".example" in url
    ]


def main(folder: Path, tag: str | None) -> int:
    """Print what is wrong; 1 where anything is."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    found = (
        [] if len(wheels) == len(sdists) == 1 else [f"{folder}: expected a wheel and an sdist; got {len(wheels)} and {len(sdists)}"]
    )
    found += [line for path in wheels for line in wrong_in_wheel(path)] + [line for path in sdists for line in wrong_in_sdist(path)]
    found += wrong_for_release(tag) if tag else []
    for line in found[:20]:
        print(line)
    if len(found) > 20:
        print(f"... and {len(found) - 20} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[3] if sys.argv[2:3] == ["--tag"] else None))
