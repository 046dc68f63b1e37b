"""Event files over the package tensorboard hold what those of PyTorch's SummaryWriter hold."""

import numpy as np
import pytest
import torch

import badak


def write(library, writer, folder):
    """One of each that badak writes."""
    t = library
    with writer(str(folder), purge_step=3) as w:
        w.add_scalar("a/loss", t.tensor(1.5), 1)
        w.add_scalar("b", 2, 2, walltime=7.0)
        w.add_scalar("c", 1.25, 3, new_style=True)
        w.add_scalars("m", {"x": 1.0, "y": t.tensor([2.0])}, 4)
        w.add_text("t", "hello *world*", 5)
        w.add_histogram("h", t.linspace(-2, 3, 100), 6)
        w.add_histogram("h2", np.arange(10), 6, bins="auto")
        w.add_histogram("h3", t.linspace(-2, 3, 100), 6, max_bins=4)
        w.add_image("i", t.linspace(0, 1, 60).reshape(3, 4, 5), 7)
        w.add_images("s", t.linspace(0, 1, 160).reshape(10, 1, 4, 4), 8)
        domains = {"n": [1, 2], "opt": ["adam", "sgd"]}
        w.add_hparams({"lr": 0.1, "n": 3, "opt": "adam", "flag": True, "no": None}, {"hp/acc": 0.5}, domains, run_name="r")
    w.add_scalar("after", 1.0)
    w.close()


def events(folder):
    """What the files of a folder hold, without the time."""
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    found = []
    for file in sorted(folder.rglob("events.out.*")):
        for raw in RawEventFileLoader(str(file)).Load():
            event = Event.FromString(raw)
            event.wall_time = 7.0 if event.wall_time == 7.0 else 0.0
            found.append((str(file.parent.relative_to(folder)), event))
    return found


def test_the_files_hold_the_same(tmp_path):
    from torch.utils.tensorboard import SummaryWriter as Theirs

    from badak.compat.torch.event_files import SummaryWriter as Ours

    write(badak, Ours, tmp_path / "ours")
    write(torch, Theirs, tmp_path / "theirs")
    ours, theirs = events(tmp_path / "ours"), events(tmp_path / "theirs")
    assert len(ours) > 20 and [where for where, _ in ours] == [where for where, _ in theirs]
    for (_, mine), (_, other) in zip(ours, theirs):
        if [value.tag for value in mine.summary.value] == ["h"]:  # the sums of a histogram, to the last digits
            for name in ("sum", "sum_squares"):
                a, b = (getattr(each.summary.value[0].histo, name) for each in (mine, other))
                assert a == pytest.approx(b, rel=1e-5)
                for each in (mine, other):
                    each.summary.value[0].histo.ClearField(name)
        assert mine == other


def test_what_cannot_be_written_says_so(tmp_path):
    from badak.compat.torch.event_files import SummaryWriter

    with SummaryWriter(str(tmp_path)) as w:
        with pytest.raises(ValueError, match="scalar should be 0D"):
            w.add_scalar("a", badak.ones(2))
        with pytest.raises(TypeError, match="expected a number or a tensor"):
            w.add_scalar("a", "x")
        with pytest.raises(NotImplementedError, match="add_graph: badak does not write it\nfix: pip install tensorboardX"):
            w.add_graph(badak.nn.Linear(1, 1))
        with pytest.raises(AttributeError):
            w.nothing  # noqa: B018
