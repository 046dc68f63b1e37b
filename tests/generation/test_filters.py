"""Filters on logits: exactly k, the smallest set that reaches p, and what is left alone."""

import numpy as np
import pytest

import badak
from badak.core.errors import ArgumentError
from badak.generation import GenerationConfig, filter_logits
from badak.generation.logit_filters import keep_top_k, keep_top_p, penalise_repetition, scale_temperature

INF = float("inf")


def kept(logits) -> list[list[int]]:
    return [np.flatnonzero(np.isfinite(row)).tolist() for row in logits.numpy()]


def test_top_k_keeps_exactly_k_even_where_logits_are_equal():
    for k in (1, 2, 3):
        assert [len(row) for row in kept(keep_top_k(badak.zeros(2, 6), k))] == [k, k]


def test_top_k_keeps_the_largest_as_they_were():
    out = keep_top_k(badak.tensor([[1.0, 3.0, 2.0, -1.0]]), 2)
    assert out.tolist() == [[-INF, 3.0, 2.0, -INF]]


def test_top_k_of_all_changes_nothing():
    logits = badak.randn(2, 5)
    assert (keep_top_k(logits, 5) == logits).all() and (keep_top_k(logits, 9) == logits).all()


@pytest.mark.parametrize("p, expected", [(0.49, [0]), (0.51, [0, 2]), (0.79, [0, 2]), (0.81, [0, 2, 3]), (1.0, [0, 1, 2, 3])])
def test_top_p_keeps_the_smallest_set_that_reaches_p(p, expected):
    logits = badak.tensor([[0.5, 0.05, 0.3, 0.15]]).log()
    assert kept(keep_top_p(logits, p)) == [expected]


def test_top_p_always_keeps_the_likeliest():
    assert kept(keep_top_p(badak.tensor([[0.0, 5.0]]), 1e-9)) == [[1]]


def test_a_repetition_penalty_lowers_what_was_seen_whatever_its_sign():
    out = penalise_repetition(badak.tensor([[2.0, -2.0, 1.0]]), badak.tensor([[0, 1, 1]]), 2.0)
    assert out.tolist() == [[1.0, -4.0, 1.0]]


def test_temperature_divides():
    assert scale_temperature(badak.tensor([[2.0, 4.0]]), 2.0).tolist() == [[1.0, 2.0]]


def test_without_filters_logits_pass_as_they_are():
    logits, config = badak.randn(2, 5), GenerationConfig(temperature=1.0, top_k=0)
    assert (filter_logits(logits, badak.tensor([[0], [1]]), config) == logits).all()


@pytest.mark.parametrize(
    "values", [{"temperature": -0.1}, {"top_p": 0.0}, {"top_p": 1.5}, {"top_k": -1}, {"repetition_penalty": 0.5}]
)
def test_sampling_refuses_values_without_meaning(values):
    with pytest.raises(ArgumentError, match=f"GenerationConfig: expected {next(iter(values))}"):
        GenerationConfig(**values)


@pytest.mark.parametrize("temperature", [1e-300, 1e-38, 1e-20])
def test_the_coldest_draw_is_the_greedy_one(temperature):
    logits, config = badak.tensor([[1000.0, 1000.001, -5.0]]), GenerationConfig(temperature=temperature, top_k=2, top_p=0.9)
    assert filter_logits(logits, badak.tensor([[0]]), config).softmax(dim=-1).tolist() == [[0, 1, 0]]
