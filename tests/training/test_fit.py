"""badak.training.fit: a model, batches and a loss of one's own in the loop of the commands."""

import dataclasses
import io
import math
import re
import signal

import numpy as np
import pytest

import badak
from badak import kernels, nn
from badak.core.errors import ArgumentError, BadakWarning, StateError
from badak.data import DataLoader, IterableDataset, TensorDataset
from badak.io.safetensors import load_file
from badak.nn import functional as F
from badak.optim import SGD
from badak.training import Callback, EarlyStopping, ModelCheckpoint, ProgressBar, fit
from badak.training.metrics import read_rows
from badak.training.train_state import TrainState

QUIET = {"log": None}


@pytest.fixture(autouse=True)
def plain():
    with kernels.use("reference"):  # nothing is compiled for sizes that nobody else has
        yield


def examples(count=40):
    source = badak.Generator().manual_seed(3)
    x = badak.randn(count, 6, generator=source)
    return x, (x[:, :3].sum(dim=1) > 0).long()


def model():
    badak.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Dropout(0.1), nn.Linear(16, 2))


def loader(size=8, count=40):
    return DataLoader(TensorDataset(*examples(count)), size, shuffle=True, generator=badak.Generator().manual_seed(1))


def batches(size=8, count=40):
    x, y = examples(count)
    return [(x[at : at + size], y[at : at + size]) for at in range(0, count, size)]


class Stream(IterableDataset):
    """The same examples in the same order each time, of no known number."""

    def __iter__(self):
        return iter(zip(*examples()))


def weights(module):
    return b"".join(p.detach().numpy().tobytes() for p in module.parameters())


def stop_at(step):
    return lambda progress: progress.step == step and signal.raise_signal(signal.SIGINT)


# ---------------------------------------------------------------------- what it does


@pytest.mark.parametrize("compiled", [True, False])
def test_it_is_the_loop_that_one_would_write(compiled):
    mine, order = model(), loader()
    optimizer = badak.optim.AdamW(mine.parameters(), lr=0.01, betas=(0.9, 0.999), weight_decay=0.0)
    for _ in range(3):
        for x, y in order:
            loss = F.cross_entropy(mine(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    fitted = model()
    settings = {"epochs": 3, "lr": 0.01, "schedule": "constant", "warmup_steps": 0, "compiled": compiled}
    outcome = fit(fitted, loader(), F.cross_entropy, **settings, **QUIET)
    assert weights(fitted) == weights(mine)
    assert outcome and outcome.step == 15 and [row.step for row in outcome.rows] == [5, 10, 15]
    assert outcome.rows[-1].train_loss < outcome.rows[0].train_loss and math.isnan(outcome.rows[0].val_loss)


@pytest.mark.slow
def test_steps_are_replayed(monkeypatch):
    made = []
    monkeypatch.setattr("badak.training.loop.TrainState", lambda *given: made.append(TrainState(*given)) or made[-1])
    fit(model(), loader(), F.cross_entropy, epochs=3, **QUIET)
    assert made[0].learn.recordings and made[0].learn.fallback_reason == ""


def test_tests_and_metrics_are_means_over_all_examples():
    fitted, (x, y) = model(), examples()
    uneven = [(x[:3], y[:3]), (x[3:], y[3:])]
    metrics = {"wrong": lambda outputs, labels: (outputs.argmax(dim=-1) != labels).float().mean()}
    outcome = fit(fitted, loader(), F.cross_entropy, val=uneven, metrics=metrics, epochs=2, **QUIET)
    fitted.eval()
    row, logits = outcome.rows[-1], fitted(x)
    assert row.val_loss == pytest.approx(F.cross_entropy(logits, y).item(), rel=1e-6)
    assert row.val_accuracy == pytest.approx((logits.argmax(dim=-1) == y).float().mean().item())
    assert row.figures["wrong"] == pytest.approx(1 - row.val_accuracy) == row.val("wrong")


@pytest.mark.slow
def test_numbers_have_a_loss_and_no_accuracy():
    x, _ = examples()
    rows = [(x[:20].numpy(), x[:20, :1].numpy()), (x[20:].numpy(), x[20:, :1].numpy())]  # arrays of NumPy are welcome
    outcome = fit(nn.Linear(6, 1), rows, F.mse_loss, val=rows, epochs=30, lr=0.05, warmup_steps=0, **QUIET)
    row = outcome.rows[-1]
    assert row.val_loss < 0.05 and math.isnan(row.val_accuracy) and math.isnan(row.val_perplexity)


class Sum(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(6, 2)

    def forward(self, x, more=None):
        return self.out(x if more is None else x + more)


def test_all_but_the_last_part_of_a_batch_are_inputs_or_prepare_says_which():
    x, y = examples(8)
    one, other = Sum(), Sum()
    other.load_state_dict(one.state_dict())
    settings = {"epochs": 3, "warmup_steps": 0, **QUIET}
    fit(one, [(x, x, y)], F.cross_entropy, **settings)
    named = [{"a": x, "b": x, "label": y}]
    fit(other, named, F.cross_entropy, prepare=lambda batch: ((batch["a"], batch["b"]), batch["label"]), **settings)
    assert weights(one) == weights(other)


def test_accumulated_batches_are_the_large_batch():
    one, other = model(), model()
    for each in (one, other):
        each[2].p = 0.0
    settings = {"epochs": 2, "lr": 0.01, "warmup_steps": 0, "optimizer": "sgd", **QUIET}
    fit(one, batches(20), F.cross_entropy, **settings)
    fit(other, batches(5), F.cross_entropy, grad_accum_steps=4, **settings)
    for p, q in zip(one.parameters(), other.parameters()):
        np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=1e-5, atol=1e-7)


def test_an_optimizer_of_ones_own_keeps_its_groups_and_follows_the_schedule():
    fitted = model()
    optimizer = SGD([{"params": fitted[0].parameters(), "lr": 0.1}, {"params": fitted[3].parameters(), "lr": 0.01}])
    seen = []
    fit(fitted, loader(), F.cross_entropy, optimizer=optimizer, epochs=2, schedule="linear", min_lr_ratio=0.0, warmup_steps=0,
        callbacks=lambda progress: seen.append([group["lr"] for group in optimizer.param_groups]), **QUIET)  # fmt: skip
    assert seen[4] == pytest.approx([0.05, 0.005]) and seen[-1] == [0.0, 0.0]


def test_bf16_is_a_setting():
    fitted = model()
    fit(fitted, loader(), F.cross_entropy, precision="bf16", epochs=1, **QUIET)
    plain = model()
    fit(plain, loader(), F.cross_entropy, epochs=1, **QUIET)
    assert weights(fitted) != weights(plain) and fitted[0].weight.dtype == badak.float32


def test_the_mode_of_the_model_is_left_as_it_was():
    for training in (True, False):
        fitted = model().train(training)
        fit(fitted, loader(), F.cross_entropy, val=loader(), epochs=1, **QUIET)
        assert fitted.training is training


def test_a_line_is_told_for_each_evaluation():
    said = []
    fit(model(), loader(), F.cross_entropy, val=loader(), metrics={"mine": lambda *_: 2}, steps=4, eval_every=2, log=said.append)
    assert len(said) == 2 and said[0].startswith("step      2   loss ") and "val " in said[0] and "mine       2" in said[0]


# ---------------------------------------------------------------------- stopped and gone on with


@pytest.mark.slow
def test_a_folder_has_curves_and_rows_as_a_run_of_the_commands_has(tmp_path, pictures):
    settings = {"val": batches(), "metrics": {"mine": lambda *_: 2.5}, "epochs": 1, "folder": tmp_path / "r", **QUIET}
    fit(model(), loader(), F.cross_entropy, **settings)
    assert (tmp_path / "r" / "curves.png").read_bytes().startswith(b"\x89PNG")
    (found,) = read_rows(tmp_path / "r" / "metrics.csv")
    assert found.figures == {"mine": 2.5} and found.step == 5


@pytest.mark.thin(5)
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["loader", "list", "stream"])
@pytest.mark.parametrize("stops", [[3], [5, 6], [1, 9]])
def test_a_run_that_was_interrupted_equals_one_that_was_not(tmp_path, kind, stops):
    made = {"loader": loader, "list": batches, "stream": lambda: DataLoader(Stream(), 8)}[kind]
    settings = {"steps": 12, "eval_every": 4, "val": batches(), "grad_accum_steps": 1 + (kind == "list"), **QUIET}
    whole = model()
    fit(whole, made(), F.cross_entropy, folder=tmp_path / "whole", **settings)
    parts = model()
    for stop in stops:
        with pytest.raises(KeyboardInterrupt, match=rf"stopped after {stop} steps; fit\(.*resume=True\) goes on"):
            fit(parts, made(), F.cross_entropy, folder=tmp_path / "parts", resume=True, callbacks=stop_at(stop), **settings)
        parts = model()
        badak.manual_seed(99)  # what has happened meanwhile is of no matter
    fit(parts, made(), F.cross_entropy, folder=tmp_path / "parts", resume=True, **settings)
    assert weights(whole) == weights(parts)
    rows = [read_rows(tmp_path / name / "metrics.csv") for name in ("whole", "parts")]
    for one, other in zip(*rows, strict=True):
        assert dataclasses.replace(one, seconds=0, per_second=0) == dataclasses.replace(other, seconds=0, per_second=0)


class Forgetful:
    """Batches, and no word of where it stands."""

    def __len__(self):
        return 5

    def __iter__(self):
        return iter(batches())


@pytest.mark.slow
def test_a_loader_that_does_not_know_its_position_says_so(tmp_path):
    settings = {"epochs": 2, "folder": tmp_path / "r", "resume": True, **QUIET}
    with pytest.raises(KeyboardInterrupt):
        fit(model(), Forgetful(), F.cross_entropy, callbacks=stop_at(7), **settings)
    gone_on = model()
    with pytest.warns(BadakWarning, match=r"Forgetful does not know its position: the 2 batches that were given are passed over"):
        fit(gone_on, Forgetful(), F.cross_entropy, **settings)
    whole = model()
    fit(whole, Forgetful(), F.cross_entropy, epochs=2, **QUIET)
    assert weights(gone_on) == weights(whole)  # for it gives the same ones each time


@pytest.mark.slow
def test_a_finished_run_goes_on_where_more_is_asked_for(tmp_path):
    settings = {"lr": 0.01, "schedule": "constant", "folder": tmp_path / "r", **QUIET}
    fit(model(), loader(), F.cross_entropy, epochs=2, **settings)
    said = []
    longer = model()
    fit(longer, loader(), F.cross_entropy, epochs=4, resume=True, **{**settings, "log": said.append})
    whole = model()
    fit(whole, loader(), F.cross_entropy, epochs=4, **{**settings, "folder": None})
    assert weights(longer) == weights(whole)
    assert said[0].startswith("goes on from step 10 to 20; it was to end at 10.")


def test_what_does_not_belong_to_the_folder_is_refused(tmp_path):
    folder = tmp_path / "r"
    settings = {"epochs": 1, "folder": folder, **QUIET}
    fit(model(), loader(), F.cross_entropy, **settings)
    with pytest.raises(ArgumentError, match=r"there is a run in this folder already\nfix: resume=True goes on with it; another"):
        fit(model(), loader(), F.cross_entropy, **settings)
    with pytest.raises(ArgumentError, match=r"this run has lr 0.001 \(now 0.5\)\nfix: what it was made with, but epochs and steps"):
        fit(model(), loader(), F.cross_entropy, resume=True, lr=0.5, **settings)
    with pytest.raises(ArgumentError, match=r"this run has kind Sequential \(now Linear\), parameters 146 \(now 14\)"):
        fit(nn.Linear(6, 2), loader(), F.cross_entropy, resume=True, **settings)
    other = loader()
    other.dataset.tensors[0][0, 0] += 1
    with pytest.raises(StateError, match=r"the data is not what this run began with"):
        fit(model(), other, F.cross_entropy, resume=True, **{**settings, "epochs": 2})


@pytest.mark.slow
def test_other_metrics_than_those_of_the_rows_are_refused(tmp_path):
    settings = {"val": batches(), "folder": tmp_path / "r", "resume": True, **QUIET}
    fit(model(), loader(), F.cross_entropy, metrics={"a": lambda *_: 1}, epochs=1, **settings)
    with pytest.raises(ArgumentError, match=r"its columns are not .*, val_b\nfix: the metrics that this run began with"):
        fit(model(), loader(), F.cross_entropy, metrics={"b": lambda *_: 1}, epochs=2, **settings)


def test_a_loss_below_zero_is_a_loss(tmp_path):
    settings = {"steps": 4, "folder": tmp_path / "r", "resume": True, **QUIET}
    with pytest.raises(KeyboardInterrupt):
        fit(model(), loader(), lambda o, y: F.cross_entropy(o, y) - 9, callbacks=stop_at(2), **settings)
    assert fit(model(), loader(), lambda o, y: F.cross_entropy(o, y) - 9, **settings).rows[-1].train_loss < -5


# ---------------------------------------------------------------------- callbacks


class Diary(Callback):
    def __init__(self):
        self.seen = []

    def on_begin(self, progress):
        self.seen.append(("begin", progress.step, progress.last_step))

    def on_step(self, progress):
        self.seen.append(("step", progress.step, progress.row is not None))

    def on_evaluation(self, progress):
        self.seen.append(("evaluation", progress.row.step, len(progress.rows)))

    def on_end(self, progress):
        self.seen.append(("end", progress.step))


def test_callbacks_are_told_what_happens_in_order():
    diary, steps = Diary(), []
    fit(model(), loader(), F.cross_entropy, steps=3, eval_every=2, callbacks=[diary, lambda p: steps.append(p.step)], **QUIET)
    assert diary.seen == [
        ("begin", 0, 3), ("step", 1, False), ("step", 2, True), ("evaluation", 2, 1),
        ("step", 3, True), ("evaluation", 3, 2), ("end", 3),
    ]  # fmt: skip
    assert steps == [1, 2, 3]


@pytest.mark.slow
def test_a_callback_can_end_the_training_which_is_saved(tmp_path):
    outcome = fit(model(), loader(), F.cross_entropy, epochs=2, folder=tmp_path / "r",
                  callbacks=lambda p: p.step == 3 and p.end("enough"), **QUIET)  # fmt: skip
    assert not outcome and (outcome.step, outcome.ended) == (3, "enough")
    again = fit(model(), loader(), F.cross_entropy, epochs=2, folder=tmp_path / "r", resume=True, **QUIET)
    assert again and again.step == 10


def row(step, **figures):
    from badak.training import Row

    return Row(step, 1.0, 0.1, 1.0, 0.5, figures.pop("loss", 1.0), figures.pop("accuracy", 0.5), 2.0, 1.0, 1.0, figures)


@pytest.mark.parametrize(
    "figure, values, ends",
    [
        ("loss", [3, 2, 2.5, 2.4], True),
        ("loss", [3, 2.5, 2, 2.4], False),
        ("accuracy", [0.5, 0.6, 0.6, 0.55], True),
        ("accuracy", [0.7, 0.8, 0.9], False),
        ("mine", [1, 1, 1], True),
        ("loss", [math.nan, 2, 3], False),
    ],
)
def test_early_end_counts_evaluations_without_a_better_one(figure, values, ends):
    from badak.training import Progress
    from badak.training.score import Score

    progress = Progress(4, 10, Score(), 1.0, model(), None, [row(at, **{figure: float(v)}) for at, v in enumerate(values)])
    EarlyStopping(figure, patience=2).on_evaluation(progress)
    assert bool(progress._ending.why) is ends


@pytest.mark.slow
def test_the_best_weights_are_kept(tmp_path):
    path, seen = tmp_path / "best.safetensors", []
    fitted = model()

    class Watch(Callback):
        def on_evaluation(self, progress):
            seen.append(weights(fitted))

    given = iter([0.5, 0.9, 0.7])
    fit(fitted, loader(), F.cross_entropy, val=batches(40), epochs=3, metrics={"mine": lambda *_: next(given)},
        callbacks=[ModelCheckpoint(path, "mine", mode="max"), Watch()], **QUIET)  # fmt: skip
    best = seen[1]
    kept = model()
    kept.load_state_dict(load_file(path))
    assert weights(kept) == best != weights(fitted)


def test_figures_that_are_not_there_are_named():
    with pytest.raises(ArgumentError, match=r"there is no figure 'auc'\nfix: one of loss, accuracy, perplexity"):
        fit(model(), loader(), F.cross_entropy, epochs=1, callbacks=[ModelCheckpoint("x", "auc")], **QUIET)
    with pytest.raises(ArgumentError, match=r"expected patience of 1 evaluation or more; got 0\nfix: "):
        EarlyStopping(patience=0)
    with pytest.raises(ArgumentError, match=r"expected mode 'auto', 'min' or 'max'; got 'high'\nfix: mode='max' "):
        EarlyStopping(mode="high")


@pytest.mark.parametrize(
    "mode, min_delta, ends", [("min", 0.0, False), ("min", 0.5, True), ("max", 0.0, True), ("auto", 0.0, False)]
)
def test_early_stopping_asks_for_an_improvement_of_min_delta_in_its_direction(mode, min_delta, ends):
    from badak.training import Progress
    from badak.training.score import Score

    rows = [row(at, mine=value) for at, value in enumerate([1.0, 0.8, 0.6])]
    progress = Progress(3, 10, Score(), 1.0, model(), None, rows)
    EarlyStopping("mine", min_delta, 2, mode).on_evaluation(progress)
    assert bool(progress._ending.why) is ends


# ---------------------------------------------------------------------- what is refused

X, Y = examples()


def call(target=None, given=None, loss=F.cross_entropy, **more):
    return lambda: fit(target or model(), loader() if given is None else given, loss, **more)


WRONG = {
    "no module": (call(len), "expected a module to train; got builtin_function_or_method"),
    "no parameter": (call(nn.GELU()), "GELU has no parameter to train"),
    "no loader": (lambda: fit(model(), None, F.cross_entropy), "expected loader to give batches; got NoneType"),
    "a tensor": (call(given=X), "expected loader to give batches; got Tensor"),
    "an iterator": (call(given=iter(loader())), "loader is an iterator, which gives its batches only once"),
    "a generator": (call(given=(b for b in batches())), "loader is an iterator"),
    "empty list": (call(given=[]), "loader has no batch"),
    "empty val": (call(val=[]), "val has no batch"),
    "no loss": (call(loss=None), r"expected loss\(outputs, labels\); got None"),
    "a loss of many numbers": (
        call(loss=lambda o, y: F.cross_entropy(o, y, reduction="none")),
        r"the loss must be one number to differentiate; got a tensor of shape \(8,\)",
    ),
    "a loss that is no tensor": (call(loss=lambda o, y: 0.5), "the loss must be a tensor; got float"),
    "a loss apart": (call(loss=lambda o, y: F.cross_entropy(o.detach(), y)), "does not require grad"),
    "nan": (call(loss=lambda o, y: F.cross_entropy(o, y) * math.nan), "the loss is nan at step 1"),
    "no labels": (call(given=DataLoader(X, 8)), r"expected batches \(inputs, ..., labels\); got a tensor of shape \(8, 6\)"),
    "inputs alone": (call(given=[(X,)]), "expected batches .* got a tuple of 1"),
    "labels that are none": (call(given=[(X, "a")], loss=lambda o, y: o.sum()), "expected the labels of a batch to be a tensor"),
    "prepare": (call(prepare=lambda b: b[0]), "prepare must give .* got a tensor"),
    "a setting": (call(epoch=3), "there is no setting 'epoch'\nfix: epochs="),
    "batch_size": (call(batch_size=3), "batch_size is no setting here\nfix: the loader says"),
    "lr twice": (call(lr=0.1, optimizer=SGD(model().parameters())), "lr is given, and an optimizer that has its own"),
    "optimizer": (call(optimizer="lion"), "expected optimizer to be one of"),
    "steps": (call(steps=-1), "expected steps >= 0"),
    "metric": (call(metrics={"accuracy": len}), "expected metrics by names of their own"),
    "callback class": (call(callbacks=[EarlyStopping]), r"expected callbacks .*\nfix: EarlyStopping\(\)"),
    "callback": (call(callbacks=[3]), "expected callbacks with on_begin"),
    "a stream": (call(given=DataLoader(Stream(), 8)), "does not say how many batches it has"),
    "labels out of range": (call(given=[(X, Y + 7)]), "."),
    **{
        f"{name}={'an object' if type(value) is object else repr(value)}": (call(**{name: value}), f"expected (an )?{name}")
        for name in ("metrics", "callbacks", "folder", "prepare", "log", "resume", "compiled", "optimizer")
        for value in (5, 0, 1.5, b"x", object())
    },
    "metrics as a list": (call(metrics=[F.l1_loss]), "expected metrics by name"),
    "a folder that no system has": (call(folder="a\0b"), "cannot be looked up"),
    "a folder that is a file": (call(folder=__file__), "cannot be made|is no folder|not a run folder|Not a directory"),
}


@pytest.mark.filterwarnings("ignore:the loss is NaN")  # which says where
@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_answered_in_two_lines(name):
    wrong, cause = WRONG[name]
    with pytest.raises(Exception, match=cause) as told:
        wrong()
    assert isinstance(told.value, badak.core.errors.BadakError), told.value
    assert len(str(told.value).split("\n")) == 2 and told.value.fix


class Nothing(IterableDataset):
    def __iter__(self):
        return iter(())


def test_a_stream_that_gives_nothing_is_said():
    with pytest.raises(ArgumentError, match=r"the loader gives no batch\nfix: "):
        fit(model(), DataLoader(Nothing(), 8), F.cross_entropy, steps=3, **QUIET)


def test_commands_say_what_a_folder_of_fit_is(tmp_path, capsys):
    from badak.cli import main

    fit(model(), loader(), F.cross_entropy, val=batches(), epochs=1, folder=tmp_path / "r", **QUIET)
    assert main(["info", str(tmp_path / "r")]) == 0
    assert "kind Sequential" in capsys.readouterr().out
    for line in (["train", "gpt", "--resume"], ["generate"], ["profile"]):
        assert main([*line, str(tmp_path / "r")]) == 2
        said = capsys.readouterr().err
        assert "is a run of badak.training.fit" in said and said.count("\n") == 2


def test_a_progress_bar_counts_the_steps_and_lets_lines_through():
    x, shown = badak.randn(8, 3), io.StringIO()
    bar = ProgressBar(file=shown, ascii=True, mininterval=0)
    batches = DataLoader(TensorDataset(x, x), batch_size=2)
    fit(nn.Linear(3, 3), batches, F.mse_loss, val=batches, epochs=2, callbacks=[bar], log=bar.write, compiled=False)
    text = shown.getvalue()
    assert "8/8" in text and re.search(r"loss \d", text) and re.search(r"(?m)^.*step +8 ", text) and bar.bar.n == 8
