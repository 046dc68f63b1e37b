"""Programs that do with a library what its users do: each function of a file here, without an underscore, is one.

It gives what JSON can hold. A file's first line names the library, NEEDS the packages beyond transformers that it imports,
and a function's first line what it does: these stand on docs/how-to/huggingface.md.
"""

import ast
from pathlib import Path


def listed() -> dict[str, tuple[str, str, list[str]]]:
    """{"pipelines.fill_mask": (library, what it does, packages that it needs)}, read without importing them."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        needs = ["transformers"]
        for part in tree.body:
            if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "NEEDS":
                needs = ["transformers", *ast.literal_eval(part.value)]
            if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                found[f"{path.stem}.{part.name}"] = str(ast.get_docstring(tree)), str(ast.get_docstring(part)), needs
    return found
