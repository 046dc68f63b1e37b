"""What the watch measures of data, each next to what looks like it and is right."""

import subprocess
import sys

import numpy as np
import pytest

import badak
from badak.inspect.doctor.collated import in_order
from badak.inspect.doctor.given import Given, loaded_into
from badak.inspect.doctor.layout import interleaved
from badak.inspect.doctor.losses import meets_itself
from badak.inspect.doctor.rows import slid
from badak.nn import Linear

RNG = np.random.default_rng(0)


def pictures(laid: bool) -> np.ndarray:
    """Smooth ones in three colours, (B, C, H, W); laid: cut out of (B, H, W, C) as they lie."""
    y, x = np.mgrid[:12, :12] / 12
    colours = [np.sin(3 * x + i) + c * y for i in range(8) for c in (0.2, 0.9, -0.6)]
    made = np.stack(colours).reshape(8, 3, 12, 12)
    return made.transpose(0, 2, 3, 1).reshape(8, 3, 12, 12).copy() if laid else made


def test_pictures_whose_numbers_lie_in_another_order():
    assert interleaved(pictures(True)) and not interleaved(pictures(False))
    assert not interleaved(RNG.normal(size=(8, 3, 12, 12))) and not interleaved(pictures(True)[:, :1])


def test_labels_in_another_order_where_examples_are_alike():
    texts = [[1, 2], [1, 2], [3, 4, 5], [3, 4, 5], [6, 7, 8, 9], [2, 2, 2, 2]]
    tags = [[1, 1], [1, 1], [2, 1, 2], [2, 1, 2], [3, 3, 3, 3], [1, 2, 1, 2]]
    examples = [(badak.tensor(a), badak.tensor(b)) for a, b in zip(texts, tags)]
    x = np.array([each + [0] * (4 - len(each)) for each in texts])
    y = np.array([each + [-100] * (4 - len(each)) for each in tags])
    alike = [1, 0, 3, 2, 4, 5]  # rows that are alike in each other's place
    assert in_order(examples, (badak.tensor(x), badak.tensor(y[alike]))) is not False
    assert in_order(examples, (badak.tensor(x), badak.tensor(y[[2, 3, 0, 1, 4, 5]]))) is False


@pytest.mark.parametrize(("moved", "acted", "wrong"), [(0, True, True), (0, False, False), (2, False, True), (19, False, False)])
def test_rows_that_move_on_by_a_few(moved, acted, wrong):
    rows = np.arange(60)
    assert slid(rows[:32], rows[moved : moved + 32], acted) == wrong
    assert not slid(rows[:32], RNG.permutation(32), True) and not slid(None, rows[:32], True)


def test_rows_that_meet_themselves():
    z = RNG.normal(size=(16, 4))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    hidden = z @ z.T
    np.fill_diagonal(hidden, -1e9)
    assert meets_itself(z @ z.T) and not meets_itself(hidden) and not meets_itself(z @ RNG.normal(size=(4, 16)))


def test_what_is_written_before_the_first_step_is_no_average():
    given, array = Given(), np.zeros(3)
    for later in (False, False, True):
        given.wrote(array, later)
    assert given.written[id(array)][2] == 1


def test_weights_that_are_a_modules_own():
    one, other = Linear(3, 2), Linear(3, 2)
    assert loaded_into(one, [], "a.py:1", one.state_dict()).own
    assert not loaded_into(one, [], "a.py:1", other.state_dict()).own
    assert not loaded_into(one, [], "a.py:1", {key: x.clone() for key, x in one.state_dict().items()}).own


@pytest.mark.slow
def test_a_line_that_asks_about_both_is_no_test(tmp_path):
    script = tmp_path / "both.py"
    script.write_text(
        "from badak.inspect.doctor.rows import words\n"
        "train_h, test_h = words(4, False), words(4, False)\n"
        "test_h = words(4, False)\n"
        "print([train_h, test_h[:6], {**{'test_of_train': words(4, False)}}['test_of_train'][:5]])\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['', 'test_h', 'print']", done.stderr
