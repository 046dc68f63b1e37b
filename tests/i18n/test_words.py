"""Korean sentences hold no English words but names and code: in the catalogue, and in what is really shown."""

import re

import pytest

import badak
from badak import models, nn
from badak.core import errors
from badak.nn import functional as F
from tools import errors_page, words

ENGLISH = frozenset(
    "the of and or is are to a an at with in for not no this that these those be it its from by as has have had was were which "
    "each every expected got all two must should than but there here when how what only also too because so if then into does "
    "do did can cannot may might would will after before without within between both either neither another other such more "
    "most less least their same they them we our your first last some any".split()
)
CODE = re.compile(  # what stays as it is: quoted, calls, assignments, paths, options, names with dots
    r"`[^`]*`|'[^']*'|\"[^\"]*\"|\{[^{}]*\}|[\w.\[\]]+\([^()]*(\([^()]*\)[^()]*)*\)|\S*[=/_\[\]<>*~|&]\S*|\w*\.\w[\w.]*|--?\w[\w-]*"
)
NAMES = (  # phrases of PyTorch and Python that programs look for, or that are code in another form
    "Error(s) in loading state_dict for",
    *words.KEPT,
    "Weights only load failed",
    "one step ofbadak",
    "same result",
    "for row in",
    "for batch in",
    "with badak.no_grad():",
    "x is None",
    "(none)",
    "and, or, not 대신 a & b, a | b, ~a",
    "a * b",
    "a (..., M, K)",
    "a @ b",
    "텐서 a의",
    "a와 b가",
    "a의 마지막",
)


def english_in(said: str) -> list[str]:
    said = re.sub(r"^\t.*$", " ", said, flags=re.MULTILINE)  # PyTorch's report on a state_dict
    for name in NAMES:
        said = said.replace(name, " ")
    said = re.sub(r"for \w+( in)?|if \w+", " ", said) if "[" in said or "state_dict" in said else said  # [s for s in state]
    left = CODE.sub(" ", said)
    return [word for word in re.findall(r"(?<![A-Za-z-])[a-z]+(?![A-Za-z])", left) if word in ENGLISH]


@pytest.mark.slow
def test_no_translation_has_english_words():
    pairs = words.said().items()
    wrong = {said: found for text, said in pairs if said != text and (found := english_in(said))}
    assert not wrong


@pytest.fixture
def korean(monkeypatch):
    monkeypatch.setenv("BADAK_LANG", "ko")


BLOCKS = [(title, code) for title, code, *_ in errors_page.blocks()]


@pytest.mark.parametrize(("title", "code"), BLOCKS, ids=[title.split(".")[0] for title, _ in BLOCKS])
def test_the_situations_are_said_without_english_words(korean, title, code):
    said = errors_page.complaint(code)
    assert re.search("[가-힣]", said) and not english_in(said), said


ONES = badak.ones(2, 3)
CALLS = {
    "an integer": lambda: models.GPTConfig(vocab_size="a"),
    "at least": lambda: models.GPTConfig(vocab_size=-1),
    "a finite number": lambda: models.GPTConfig(vocab_size=3, dropout=None),
    "two numbers of dims": lambda: nn.BatchNorm1d(3)(badak.ones(3)),
    "two shapes of a product": lambda: ONES @ ONES,
    "two shapes of a sum": lambda: ONES + badak.ones(2, 4),
    "kinds of int8": lambda: badak.quantize(nn.Linear(2, 2), "int3"),
    "heads": lambda: nn.MultiheadAttention(10, 4),
    "no file": lambda: badak.load("/nonexistent"),
    "labels": lambda: F.cross_entropy(ONES, badak.ones(2)),
    "a shape": lambda: badak.zeros("a"),
    "an optimizer": lambda: badak.optim.lr_scheduler.StepLR(3, 1),
    "a learning rate": lambda: badak.optim.Adam([badak.ones(2, requires_grad=True)], lr="a"),
    "several sizes": lambda: badak.stack([badak.ones(2), badak.ones(3)]),
    "an index": lambda: ONES[5],
    "a dtype": lambda: badak.zeros(2, dtype="a"),
    "a batch size": lambda: badak.data.DataLoader([1, 2], batch_size=0),
    "an audit": lambda: badak.audit(3, 4),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_are_said_without_english_words(korean, name):
    with pytest.raises(errors.BadakError) as caught:
        CALLS[name]()
    assert re.search("[가-힣]", str(caught.value)) and not english_in(str(caught.value)), str(caught.value)
