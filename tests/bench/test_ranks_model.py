"""The cost model of several ranks, by numbers that a pencil gives."""

import math

import pytest

from bench.ranks_model import Job, Network, by_machines, efficiency, halving, holds_to, ours, ring, table, tree

NET = Network(a=1.0, b=10.0)  # a second for a message, ten bytes a second


@pytest.mark.parametrize(
    ("how", "two", "four"), [(ring, 2 * (1 + 4), 6 * (1 + 2)), (tree, 2 * (1 + 8), 4 * (1 + 8)), (halving, 2 + 8, 4 + 12)]
)
def test_seconds_of_eighty_bytes(how, two, four):
    assert how(80, 2, NET) == pytest.approx(two)
    assert how(80, 4, NET) == pytest.approx(four)


def test_ours_sends_what_a_ring_sends():
    assert all(ours(1e6, n, NET) == ring(1e6, n, NET) for n in (1, 2, 3, 64, 1000))


def test_adding_takes_time_too():
    slow = Network(a=0, b=math.inf, added=20)
    assert ring(80, 4, slow) == pytest.approx(3) and tree(80, 4, slow) == pytest.approx(8)


def test_a_step_is_compute_and_what_is_not_hidden():
    job = Job(parameters=10, tokens=1, rate=6)  # 60 FLOPs: 10 s; 40 bytes
    assert job.compute == 10 and job.nbytes == 40
    assert efficiency(job, 2, NET) == pytest.approx(10 / (10 + 2 * (1 + 2)))
    assert efficiency(Job(10, 1, 6, hides=0.5), 2, NET) == pytest.approx(10 / 11)
    assert efficiency(job, 1, NET) == 1


def test_where_scaling_ends():
    job = Job(parameters=10, tokens=10, rate=6)  # 100 s
    assert holds_to(job, NET, least=0.9) == 2  # two ranks: 100 / 106; four: 100 / 112
    assert holds_to(job, NET, tree, least=0.5) > holds_to(job, NET, ring, least=0.5)  # many small messages


def test_machines_of_eight_share_a_wire():
    inside = Network(a=0.0, b=1e9)
    assert by_machines(80, 8, NET, inside) == ours(80, 8, inside)
    assert by_machines(80, 16, NET, inside) == pytest.approx(ours(80, 8, inside) + halving(10, 2, Network(a=1.0, b=1.25)))


def test_the_table_has_a_row_for_each_way():
    lines = table()
    assert len(lines) > 4 and len({line.count("|") for line in lines}) == 1
