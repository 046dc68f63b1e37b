"""The other side of `limited.py`: a Python that takes one order at its input, puts limits on itself, and answers in JSON.

Run as a file, so that nothing of badak is imported.
"""

import json
import runpy
import sys
from contextlib import suppress
from typing import Any


def main() -> None:
    """Answer one order."""
    order = json.load(sys.stdin)
    limit(order["seconds"], order["memory"])
    sys.path[:] = order["path"]
    try:
        said: dict[str, Any] = {"answer": runpy.run_path(order["script"])["answer"](order["question"])}
        text = json.dumps(said)
    except MemoryError:
        text = json.dumps({"error": f"it takes more than {order['memory'] >> 30} GiB of memory"})
    except BaseException as error:  # what a library in another language raises where it gives up is no Exception
        text = json.dumps({"error": (str(error) or type(error).__name__)[:1000], "kind": type(error).__name__})
    sys.stdout.write(text)


def limit(seconds: int, memory: int) -> None:
    """Let the system end this process beyond so many seconds and bytes. It may write no file."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no limits: there the parent's patience is the one
        import resource

        for name, most in (("CORE", 0), ("FSIZE", 0), ("CPU", seconds), ("AS", memory)):
            number = getattr(resource, f"RLIMIT_{name}", None)
            if number is not None:
                resource.setrlimit(number, (most, most))


if __name__ == "__main__":
    main()
