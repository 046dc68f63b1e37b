"""Every forged file ends in an error of two lines that names what is wrong: nothing runs, nothing hangs, no memory fills."""

import multiprocessing
from functools import cache

import pytest

from tests.io.attacks.corpus import CORPUS
from tests.io.mutations.worker import judge_all

pytestmark = pytest.mark.slow

CASES = [(reader, name) for reader, files in CORPUS.items() for name in files]


def _send(pipe, reader: str) -> None:
    for row in judge_all(reader, {name: data() if callable(data) else data for name, (data, _) in CORPUS[reader].items()}):
        pipe.send(row)


@cache
def judged(reader: str) -> dict[str, tuple[str, str]]:
    """What became of each file of a reader, read one after the other in a process with limits."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(theirs, reader))
    process.start()
    theirs.close()
    found = {}
    try:
        while ours.poll(120):
            name, *rest = ours.recv()
            found[name] = tuple(rest)
    except EOFError:
        pass
    process.kill()
    return found


@pytest.mark.thin(80)
@pytest.mark.parametrize("reader, name", CASES, ids=[f"{reader}: {name}" for reader, name in CASES])
def test_a_forged_file_is_refused_in_two_lines(reader, name):
    _, says = CORPUS[reader][name]
    verdict, text = judged(reader).get(name, ("wrong", "the process ended or hung, at this file or before"))
    assert verdict == "refused" and says in text, (verdict, text)
