"""Work that a file asks for, in a process of its own with limits of time and memory: a few bytes may ask for years and terabytes.

    limited(renderer.__file__, {"template": text, ...}, where, "the chat template", "fix it")

Nothing in this process can stop a product of numbers or a search that has begun in a library. Another process can be ended.
"""

import json
import os
import signal
import subprocess
import sys
from typing import Any

from badak.core.errors import FileError, NotSupportedError, tr
from badak.io import worker
from badak.io.errors import line

SECONDS = 3  # of the CPU
WAIT = 60.0  # seconds in all, on a machine that has other work
MEMORY = 2 << 30  # bytes


def limited(script: str, question: Any, where: Any, what: str, fix: str) -> Any:
    """What the function `answer(question)` in the file `script` gives; both are JSON, and the script imports nothing of badak.

    Raises FileError, with `where`, `what` and `fix`, for an error, and where it takes too long or too much memory.
    """
    if not sys.executable:
        cause = tr("{}: {} is read by a Python of its own, and there is none next to this program", where, what)
        raise NotSupportedError(cause, fix)
    order = {"path": sys.path, "script": script, "seconds": SECONDS, "memory": MEMORY, "question": question}
    try:
        done = subprocess.run(
            [sys.executable, "-P", worker.__file__], input=json.dumps(order).encode(), capture_output=True, timeout=WAIT,
            env=os.environ | {"RAYON_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}, check=False,
        )  # fmt: skip
        answer = json.loads(done.stdout) if done.returncode == 0 else {"error": _why(done.returncode)}
    except subprocess.TimeoutExpired:
        answer = {"error": f"it takes more than {WAIT:.0f} s"}
    except (OSError, ValueError) as error:
        answer = {"error": f"its process failed: {error}"}
    if "error" in answer:
        raise FileError(tr("{}: {} fails ({})", where, what, line(str(answer["error"]), 200)), fix)
    return answer["answer"]


def _why(code: int) -> str:
    """What a process died of."""
    if code in (-getattr(signal, "SIGXCPU", 0), -getattr(signal, "SIGKILL", 0)):
        return f"it takes more than {SECONDS} s"
    return f"it takes more than {MEMORY >> 30} GiB of memory, or breaks the library that reads it"
