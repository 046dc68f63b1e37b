"""The layers of the house: who may import whom, and where an import may stand."""

import ast
import re
import tomllib

import pytest

from tests import sources
from tests.sources import PACKAGE

# extras: imported where they are used
OPTIONAL = {
    "resource",  # not on Windows
    "tqdm",  # tqdm.auto imports what notebooks need
    "numba", "llvmlite", "matplotlib", "scipy",
    "llguidance", "lm_eval", "nbformat", "huggingface_hub", "jinja2", "tokenizers", "pygments", "sacrebleu",
    "sentencepiece", "mpi4py",
}  # fmt: skip


def imports_in_functions(nodes: list[ast.AST]):
    """(line, module) of every import inside a function."""
    for outer in nodes:
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for node in ast.walk(outer):
                if isinstance(node, ast.Import):
                    yield from ((node.lineno, alias.name) for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.lineno, "." * node.level + (node.module or "")


@pytest.mark.slow
def test_no_import_hides_in_a_function():
    hidden = [
        f"{name}:{line} {module}"
        for name, nodes in sources.nodes(r"^\s+(import|from) ")
        if not name.startswith("cli/")
        for line, module in imports_in_functions(nodes)
        if module.split(".")[0] not in OPTIONAL
    ]
    assert not hidden


@pytest.mark.slow
def test_one_folder_names_the_compiler():
    naming = {
        name.rpartition("/")[0]
        for name, nodes in sources.nodes(r"^\s*(import|from) (numba|llvmlite)\b")
        if any(each.split(".")[0] in ("numba", "llvmlite") for node in nodes for each in _imported(node))
    }
    assert naming == {"kernels/numba/codegen"}


def _imported(node):
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def test_the_architecture_page_and_the_contract_list_every_room():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()} - {
        "__init__",
        "__main__",
    }
    root = PACKAGE.parent.parent
    on_page = set(
        re.findall(r"^\| `(\w+)/?` \|", (root / "docs/explanation/architecture.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    contract = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][0]
    in_contract = {name.strip("() ").partition(".")[0] for layer in contract["layers"] for name in re.split(r"[|:]", layer)}
    assert on_page == rooms and in_contract == rooms


def test_paths_that_the_architecture_page_names_are_there():
    root = PACKAGE.parent.parent
    page = (root / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\w+/)+\w*(?:\.py)?)`", page)) - {"kernels/reference/x.py", "kernels/numba/x.py"}
    assert "tensor/apply.py" in named
    places = [root, PACKAGE, PACKAGE.parent, *(room for room in PACKAGE.iterdir() if room.is_dir())]
    assert not [name for name in named if not any((place / name).exists() for place in places)]
