"""A dataset that mirrors its pictures by chance, with their labels and without."""

import numpy as np
import pytest

import badak
from badak.inspect.doctor.augmented import asked


class Pictures(badak.data.Dataset):
    def __init__(self, both: bool, chance: bool = True, classes: bool = False):
        self.pictures, self.both, self.chance, self.classes = badak.randn(6, 1, 8, 8), both, chance, classes
        self.maps = badak.randint(0, 3, (6, 8, 8))

    def __len__(self):
        return 6

    def __getitem__(self, i):
        x, y = self.pictures[i], self.maps[i]
        if self.chance and np.random.rand() < 0.5:
            x, y = x.flip(-1), y.flip(-1) if self.both else y
        return x, int(y[0, 0]) if self.classes else y


@pytest.mark.parametrize("both", [False, True])
def test_whether_labels_are_mirrored(both):
    before = np.random.get_state()[1].copy()
    found = [mirrored for _, mirrored in asked(Pictures(both))]
    assert len(found) >= 3 and set(found) == {both}
    assert (np.random.get_state()[1] == before).all()  # what was drawn is given back


def test_classes_need_no_mirror_and_other_pictures_are_none():
    assert {mirrored for _, mirrored in asked(Pictures(False, classes=True))} == {None}
    assert not asked(Pictures(True, chance=False))
    assert not asked([1, 2, 3])
