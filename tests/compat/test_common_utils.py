"""`TestCase` of torch.testing._internal: what it calls equal is what PyTorch's calls equal."""

import unittest
from collections import OrderedDict

import numpy as np
import pytest
import torch
from torch.testing._internal.common_utils import TestCase as Theirs

import badak
from badak.compat.torch.common_utils import TestCase as Ours

pytestmark = pytest.mark.slow  # the import of what it compares with takes a second

PAIRS = [
    lambda lib: (lib.ones(2), lib.ones(2)),
    lambda lib: (lib.ones(2), lib.ones(2) + 1e-7),
    lambda lib: (lib.ones(2), lib.ones(2) + 1e-3),
    lambda lib: (lib.ones(2), lib.ones(3)),
    lambda lib: (lib.ones(2), lib.ones(2, dtype=lib.float64)),
    lambda lib: (lib.tensor([float("nan")]), lib.tensor([float("nan")])),
    lambda lib: ({"a": [lib.ones(2), 1, "x"]}, OrderedDict(a=[lib.ones(2), 1, "x"])),
    lambda lib: ({"a": [lib.ones(2)]}, {"a": [lib.zeros(2)]}),
    lambda lib: ({"a": 1}, {"b": 1}),
    lambda lib: ((1, 2), (1, 2, 3)),
    lambda lib: ("a", "b"),
    lambda lib: (1.0, 1.0 + 1e-9),
    lambda lib: (1.0, 1.0 + 1e-6),
    lambda lib: (1.0, 1.0 + 1e-4),
    lambda lib: (1, 1.0),
    lambda lib: (True, 1),
    lambda lib: (lib.tensor(100.0), 100),
    lambda lib: (101, lib.tensor([101.0])),
    lambda lib: (lib.tensor(101.0), 100),
    lambda lib: (lib.tensor([True]), 1),
    lambda lib: (lib.tensor(2), 2.000001),
    lambda lib: ([lib.tensor(1.0), 2], [1, lib.tensor(2)]),
    lambda lib: (np.array([3]), 3),
    lambda lib: (lib.tensor(1 + 2j), 1 + 2j),
    lambda lib: (None, None),
    lambda lib: ({1, 2}, {1, 2}),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_what_is_equal(pair):
    told = []
    for library, kind in ((badak, Ours), (torch, Theirs)):
        try:
            kind().assertEqual(*pair(library))
            told.append(True)
        except AssertionError:
            told.append(False)
    assert told[0] == told[1]


def test_a_number_is_no_tensor_of_several():
    for library, kind in ((badak, Ours), (torch, Theirs)):
        with pytest.raises(ValueError, match="Only single element tensor-likes can be compared against a number"):
            kind().assertEqual(library.ones(2), 1)


def test_it_is_a_test_case():
    assert issubclass(Ours, unittest.TestCase)
    with pytest.raises(AssertionError):
        Ours().assertEqual(badak.ones(1), badak.zeros(1), atol=0.5, rtol=0)
    Ours().assertEqual(badak.ones(1), badak.zeros(1), atol=1, rtol=0)


@pytest.mark.slow
def test_it_is_found_under_its_name_in_a_run(python, program):
    text = "from torch.testing._internal.common_utils import TestCase, make_tensor, run_tests\nprint(TestCase.__mro__[1].__name__)"
    assert python("-m", "badak", "run", program(text)).out == "TestCase\n"


NEXT_TO = [
    lambda lib: (lib.ones(2), [1.0, 1.0]),
    lambda lib: ([1.0, 2.0], lib.ones(2)),
    lambda lib: (lib.ones(2, dtype=lib.int64), (1, 1)),
    lambda lib: (np.array(["H", "O"]), np.array(["H", "O"])),
    lambda lib: (np.array(["H"]), np.array(["C"])),
]


@pytest.mark.parametrize("make", NEXT_TO)
@pytest.mark.parametrize("word", ["assertEqual", "assertNotEqual"])
def test_sequences_and_words_next_to_tensors(make, word):
    def passes(case, lib):
        try:
            getattr(case(), word)(*make(lib))
        except AssertionError:
            return False
        return True

    assert passes(Ours, badak) == passes(Theirs, torch)
