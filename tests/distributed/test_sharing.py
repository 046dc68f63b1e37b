"""Testing, writing and reading over ranks: the same answers as one rank gives, each rank with its part of the work."""

import json

import pytest

from badak.data import DataLoader, Dataset
from badak.training.ranks import _part
from tests.distributed.ranks import PROGRAMS, launch, without_ranks
from tests.distributed.small import arguments, state

SIZES = "--layers 1 --heads 2 --d-model 16 --context 16 --schedule constant".split()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A GPT of a few numbers, after two steps, with five batches to test with."""
    folder = tmp_path_factory.mktemp("run")
    text = folder / "text.txt"
    text.write_text("\n".join(f"{i} times {i} is {i * i}, and a little more than {i}." for i in range(200)), encoding="utf-8")
    words = ["--data", text, "--run", folder / "run", "--val-split", "0.5", "--tokens", "characters", "--steps", "2"]
    done = without_ranks("train", "gpt", *words, *SIZES)
    assert done.code == 0, done.err
    return folder / "run"


@pytest.fixture(scope="module")
def alone(run):
    """What is found without ranks."""
    done = without_ranks("eval", run)
    assert done.code == 0, done.err
    return done.out


def rows(table: str) -> dict[str, str]:
    """The table by its names."""
    return dict(line.split(None, 1) for line in table.splitlines())


@pytest.mark.slow
def test_the_test_finds_what_training_wrote(run, alone):
    last = dict(zip(*((run / "metrics.csv").read_text().splitlines()[i].split(",") for i in (0, -1))))
    found = rows(alone)
    assert float(found["loss"]) == pytest.approx(float(last["val_loss"]), rel=1e-5)
    assert float(found["perplexity"]) == pytest.approx(float(last["val_perplexity"]), rel=1e-5)
    assert found["steps"] == "2" and "held out" in found["data"] and "tokens" in found["judged"]


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 4])
def test_several_ranks_find_the_same(ranks, run, alone):
    done = launch(ranks, "eval", run)
    assert done.code == 0, done.err
    found = rows(done.out)
    assert found.pop("ranks") == str(ranks) and found == rows(alone)


@pytest.mark.slow
def test_several_ranks_write_what_one_writes_in_order(run, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("1 times\n\nmore\n7 is\n", encoding="utf-8")
    words = ["generate", run, "--prompts", prompts, "--max-new-tokens", "12"]
    made = [without_ranks(*words), launch(2, *words)]
    assert [done.code for done in made] == [0, 0], made[1].err
    assert made[0].out == made[1].out
    assert [text for text in ("1 times", "more", "7 is") if text in made[0].out] == ["1 times", "more", "7 is"]


@pytest.mark.slow
def test_each_rank_reads_its_own_examples_only():
    done = launch(2, PROGRAMS / "sharing.py")
    assert done.code == 0, done.err
    said = dict(line.split(": ", 1) for line in done.out.splitlines())
    assert len(said) == 16 and set(said.values()) == {"right"}, said


class Noting(Dataset):
    """Notes what is read of it."""

    def __init__(self):
        self.read = []

    def __len__(self):
        return 11

    def __getitem__(self, i):
        self.read.append(i)
        return i


@pytest.mark.parametrize("size", [2, 3, 7])
def test_a_rank_s_part_of_the_batches(size):
    whole = [batch.tolist() for batch in DataLoader(Noting(), 2)]
    found = []
    for rank in range(size):
        data = Noting()
        part = [batch.tolist() for batch in _part(DataLoader(data, 2), rank, size)]
        assert part == whole[rank::size] and data.read == sum(part, [])
        found += part
    assert sorted(found) == whole


@pytest.mark.slow
def test_each_rank_reads_what_it_learns_from_and_no_more(text, tmp_path):
    done = launch(2, PROGRAMS / "reads.py", tmp_path, *arguments(text, tmp_path / "run", 4))
    assert done.code == 0, done.err
    (tmp_path / "alone").mkdir()
    alone = launch(
        1, PROGRAMS / "reads.py", tmp_path / "alone", *arguments(text, tmp_path / "alone" / "run", 4), "--deterministic-reduce"
    )
    assert alone.code == 0, alone.err

    def learned(folder, rank):
        return [index for kind, index in json.loads((folder / f"read-{rank}.json").read_text()) if kind == "TokenWindows"]

    whole, parts = learned(tmp_path / "alone", 0), [learned(tmp_path, rank) for rank in range(2)]
    assert len(whole) == 16 and [len(part) for part in parts] == [8, 8]
    for at in range(0, 16, 4):  # four batches of an update, two for each
        assert whole[at : at + 4] == parts[0][at // 2 : at // 2 + 2] + parts[1][at // 2 : at // 2 + 2]


@pytest.mark.slow
def test_what_is_hidden_is_drawn_by_the_batch_and_not_by_the_rank(tmp_path):
    words = (
        "--steps 4 --batch-size 4 --grad-accum-steps 4 --layers 1 --heads 2 --d-model 16 --dropout 0.2 --schedule constant".split()
    )
    one = without_ranks("train", "bert", "--run", tmp_path / "one", *words, "--deterministic-reduce")
    two = launch(2, "train", "bert", "--run", tmp_path / "two", *words)
    assert (one.code, two.code) == (0, 0), one.err + two.err
    assert state(tmp_path / "one") == state(tmp_path / "two")
