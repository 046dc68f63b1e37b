"""What the doctor finds alive."""

import pytest

from badak import nn
from badak.inspect.doctor.names import Names, living


class Unfinished(nn.Module):
    def __init__(self):
        raise ValueError("no such size")


def test_a_module_whose_init_failed_is_passed_over():
    kept = Unfinished.__new__(Unfinished)
    with pytest.raises(ValueError, match="no such size"):
        kept.__init__()
    model = nn.Sequential(nn.Linear(2, 2))
    found = living(nn.Module)
    assert any(each is model for each in found) and not any(each is kept for each in found)
    assert Names([model], found).parameters[id(model[0].weight)] == "0.weight"
