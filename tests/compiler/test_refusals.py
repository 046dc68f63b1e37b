"""What cannot be replayed runs as it is, and says why."""

import copy
import io
import threading

import numba
import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.core.errors import ArgumentTypeError, BadakWarning, GraphError
from badak.nn import functional as F

REASONS = {
    "item": (lambda x: x * x.sum().item(), "it reads a value (item)"),
    "branch": (lambda x: x if x.sum() > 0 else -x, "it reads a value (bool())"),
    "mask": (lambda x: x[x > 0], "the shape of what index gives depends on values"),
    "counts": (lambda x: x.repeat_interleave((x > 3).long() + 1, 0), "the shape of what repeat_interleave gives depends"),
    "one count": (lambda x: x.repeat_interleave((x > 3).long().sum() + 1, 0), "it reads a value (item)"),
    "numpy": (lambda x: badak.from_numpy(x.numpy() + 1), "it reads a value (numpy)"),
    "printing": (lambda x: x + len(f"{x.sum()}"), "it reads a value (format())"),
    "equal": (lambda x: x * badak.equal(x, x), "it reads a value (equal)"),
    "outside": (lambda x: x + badak.tensor(next(NUMBERS)), "it can reach NUMBERS, a generator"),
    "data": (lambda x: setattr(KEPT, "data", x.clone()) or KEPT + x, "it changes more than values: other data of a tensor"),
    "clock": (lambda x: x * (np.datetime64("now") > np.datetime64("2020-01-01")), "the clock is another one in each call"),
    "threads of another library": (lambda x: x * numba.get_num_threads(), "it calls numba.get_num_threads, which may"),
    "no values": (lambda x: x * len((NOWHERE * 2).shape), "it computes with a tensor on the meta device"),
    "graph": (lambda x: (WEIGHT * x).sum(), "its result still waits for backward()"),
}
SETTERS = {
    "set_printoptions": lambda: badak.set_printoptions(precision=4),
    "set_detect_anomaly": lambda: badak.autograd.set_detect_anomaly(False),
    "set_autocast_enabled": lambda: badak.set_autocast_enabled("cpu", False),
    "set_autocast_dtype": lambda: badak.set_autocast_dtype("cpu", badak.bfloat16),
    "set_overwrite_module_params_on_conversion": lambda: badak.__future__.set_overwrite_module_params_on_conversion(False),
    "set_swap_module_params_on_conversion": lambda: badak.__future__.set_swap_module_params_on_conversion(False),
    "set_crc32_options": lambda: badak.serialization.set_crc32_options(True),
    "set_default_load_endianness": lambda: badak.serialization.set_default_load_endianness(None),
}
NUMBERS = iter(float(n) for n in range(10**6))
KEPT, WEIGHT, NOWHERE = badak.zeros(4), badak.ones(4, requires_grad=True), badak.ones(2, 3, device="meta")


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", REASONS)
def test_reasons_are_named_and_results_stay_right(name):
    function, reason = REASONS[name]
    compiled = badak.compile(lambda x: function(x))
    for number in range(6):
        x = badak.arange(4.0) + number
        twin = x.clone()
        if name != "outside":
            assert compiled(x).tolist() == function(twin).tolist()
            assert x.tolist() == twin.tolist()
        else:
            compiled(x)
    assert compiled.fallback_reason.startswith(reason)


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", SETTERS)
def test_a_setting_is_made_in_each_call(name):
    compiled = badak.compile(lambda x: (SETTERS[name](), x * 2)[1])
    for number in range(4):
        assert compiled(badak.ones(2) * number).tolist() == [2.0 * number] * 2
    assert compiled.fallback_reason.startswith(f"it calls {name}, which sets something for what comes after")


@pytest.mark.filterwarnings("ignore:compile")
def test_a_step_that_asks_for_anomalies_finds_them_in_each_call():
    w = badak.ones(2, requires_grad=True)

    @badak.compile
    def step(x):
        with badak.autograd.detect_anomaly():
            (w * x.log()).sum().backward()

    for _ in range(3):
        step(badak.ones(2))
    with pytest.raises(GraphError, match="log"):
        step(-badak.ones(2))


def test_a_function_that_runs_as_it_is_says_so_once():
    def by_the_sum(x):
        return x * x.sum().item()

    step = badak.compile(by_the_sum)
    step(badak.ones(2))
    with pytest.warns(BadakWarning) as caught:
        step(badak.ones(2))
    assert str(caught[0].message) == (
        "compile: test_a_function_that_runs_as_it_is_says_so_once.<locals>.by_the_sum cannot be replayed: it reads a value "
        "(item); it runs as it is\nfix: docs/explanation/compile.md says what can be replayed"
    )
    step(badak.ones(2))  # a second warning would be an error


def test_fullgraph_raises_instead():
    step = badak.compile(lambda x: x * x.sum().item(), fullgraph=True)
    step(badak.ones(2))
    with pytest.raises(GraphError, match=r"compile: .* cannot be replayed: it reads a value \(item\)\nfix: fullgraph=False"):
        step(badak.ones(2))


def test_what_compile_takes():
    assert isinstance(badak.compile(lambda x: x), type(badak.compile()(lambda x: x)))
    plain = lambda x: x
    assert badak.compile(plain, disable=True) is plain
    once = badak.compile(plain)
    assert badak.compile(once) is once
    with pytest.raises(ArgumentTypeError, match="expected a function or a module; got int"):
        badak.compile(3)


def test_hooks_are_not_skipped():
    seen = []
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh()).eval()
    model.compile()
    with badak.no_grad():
        for _ in range(5):
            model(badak.ones(1, 2))
        model[1].register_forward_hook(lambda *_: seen.append(1))
        for _ in range(5):
            model(badak.ones(1, 2))
    assert len(seen) == 5 and model.forward.fallback_reason == "Tanh has hooks"


def test_a_module_is_compiled_where_no_gradient_is_needed_and_copies_are_not():
    model = nn.Linear(3, 3)
    assert badak.compile(model) is model
    x = badak.randn(2, 3)
    with badak.no_grad():
        outputs = [model(x) for _ in range(6)]
    assert len({id(y._array) for y in outputs}) == 6 and all(badak.equal(y, outputs[0]) for y in outputs)
    (plan,) = model.forward.recordings
    assert plan.steps is not None
    for _ in range(5):
        model(x).sum().backward()
    assert badak.equal(model.weight.grad, 5 * x.sum(0).expand(3, 3))
    twin = copy.deepcopy(model)
    assert "forward" not in twin.__dict__ and badak.equal(twin(x), model(x))
    kept = io.BytesIO()
    badak.save(model.state_dict(), kept)
    assert list(model.state_dict()) == ["weight", "bias"]


def test_methods_can_be_compiled():
    class Scaled:
        def __init__(self, by):
            self.by = by

        @badak.compile
        def __call__(self, x):
            return x * self.by

    two, three = Scaled(2.0), Scaled(3.0)
    for _ in range(5):
        assert two(badak.ones(2)).tolist() == [2, 2]
        assert three(badak.ones(2)).tolist() == [3, 3]


def test_numbers_shapes_dtypes_and_modes_have_recordings_of_their_own():
    step = badak.compile(lambda x, n, flag=False: (x * n, x.requires_grad, badak.is_grad_enabled(), flag))
    for _ in range(5):
        for n in (2, 3.5):
            for x in (badak.ones(2), badak.ones(3), badak.ones(2, dtype=badak.float64)):
                y, *rest = step(x, n, flag=n == 2)
                assert y.tolist() == [n] * len(x) and rest == [False, True, n == 2] and y.dtype is x.dtype
        with badak.inference_mode():
            assert step(badak.ones(2), 2)[0].is_inference()


def test_an_error_in_a_step_leaves_it_usable():
    step = badak.compile(lambda x, i: F.embedding(i, x))
    table = badak.randn(5, 3)
    for number in range(12):
        i = badak.tensor([number % 5, 9 if number % 3 == 2 else 1])
        if number % 3 == 2:
            with pytest.raises(IndexError, match="Embedding has 5 rows"):
                step(table, i)
        else:
            assert badak.equal(step(table, i), table[i])


def test_two_threads_may_call_one_step():
    step = badak.compile(lambda x: (x @ x).tanh().sum(1))
    x = [badak.randn(60, 60) for _ in range(4)]
    expected = [(y @ y).tanh().sum(1).tolist() for y in x]
    wrong = []

    def work(number):
        for _ in range(60):
            if step(x[number]).tolist() != expected[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_optimizer_whose_state_was_replaced_is_followed():
    def trained(compiled):
        badak.manual_seed(0)
        model = nn.Linear(4, 4)
        optimizer = optim.AdamW(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        step = badak.compile(step) if compiled else step
        kept = None
        for number in range(20):
            if number == 6:
                kept = copy.deepcopy(optimizer.state_dict())
            if number == 10:
                optimizer.load_state_dict(kept)
            if number == 13:
                optimizer.param_groups[0]["betas"] = (0.5, 0.9)
            if number == 16:
                optimizer.state.clear()
            step(badak.randn(3, 4))
        return model.weight.tolist()

    assert trained(True) == trained(False)


def test_gradients_are_added_up_where_a_step_does_not_clear_them():
    def gradients(compiled):
        badak.manual_seed(0)
        model = nn.Linear(4, 4)
        add = lambda x: model(x).square().mean().backward()
        add = badak.compile(add) if compiled else add
        found = []
        for number in range(12):
            if number == 8:
                model.zero_grad()
            add(badak.randn(3, 4))
            found.append(model.weight.grad.tolist())
        return found

    assert gradients(True) == gradients(False)


def test_hooks_and_gradients_that_come_later_are_seen():
    def weights(compiled):
        badak.manual_seed(0)
        model = nn.Linear(4, 4)
        optimizer = optim.SGD(model.parameters(), lr=0.1)

        def forget(p):
            p.grad.zero_()

        events = {
            5: lambda: model.weight.register_hook(lambda dy: dy * 0),
            8: lambda: model.bias.register_post_accumulate_grad_hook(forget),
        }

        def step(x):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

        step = badak.compile(step) if compiled else step
        found = []
        for number in range(12):
            events.get(number, int)()
            step(badak.randn(3, 4))
            found.append((model.weight.tolist(), model.bias.tolist()))
        return found

    with pytest.warns(BadakWarning, match="has a hook"):
        assert weights(True) == weights(False)


@pytest.mark.filterwarnings("ignore:compile")
def test_a_gradient_that_is_read_may_be_replaced():
    def walked(compiled):
        weight = badak.ones(4, requires_grad=True)
        weight.grad = badak.ones(4)

        def step(x):
            with badak.no_grad():
                weight.sub_(weight.grad * 0.5)
                return x + weight

        step = badak.compile(step) if compiled else step
        found = []
        for number in range(10):
            if number > 5:
                weight.grad = badak.full((4,), float(number))
            found.append(step(badak.ones(4)).tolist())
        return found

    assert walked(True) == walked(False)


def test_a_gradient_that_comes_later_is_cleared():
    def cleared(compiled):
        used, later = badak.ones(2, requires_grad=True), badak.ones(2, requires_grad=True)
        optimizer = optim.SGD([used, later], lr=0.1)

        def update():
            optimizer.step()
            optimizer.zero_grad()

        update = badak.compile(update, fullgraph=True) if compiled else update
        found = []
        for number in range(10):
            (used.sum() + (later.square().sum() if number > 5 else 0.0)).backward()
            update()
            found.append((later.tolist(), later.grad is None))
        return found

    assert cleared(True) == cleared(False)


WRONG = {
    "gather": lambda x, i: x.gather(0, i),
    "index": lambda x, i: x[i],
    "set": lambda x, i: x.clone().__setitem__(i, 1.0),
    "scatter": lambda x, i: x.scatter(0, i, 1.0),
    "index_add": lambda x, i: x.index_add(0, i, x[:3]),
    "division": lambda x, i: i // (i + 5),
    "probabilities": lambda x, i: F.binary_cross_entropy(i / 3.0, i.clamp(0, 1).float()),
    "masked_scatter": lambda x, i: x.masked_scatter(badak.arange(4) < i.square().sum(), x[:3]),
}


@pytest.mark.parametrize("name", WRONG)
def test_values_that_are_wrong_raise_in_replays_as_they_do_without(name):
    step = badak.compile(WRONG[name], fullgraph=True)
    for number in range(12):
        x, i = badak.arange(4.0) + number, badak.tensor([0, 0, {6: -5, 8: 9}.get(number, 1)])
        try:
            expected = WRONG[name](x, i)
        except Exception as error:
            with pytest.raises(type(error)) as caught:
                step(x, i)
            assert str(caught.value) == str(error)
        else:
            assert str(step(x, i)) == str(expected)
    assert step.recordings


# ---------------------------------------------------------------- much data within reach


class Item:
    def __init__(self, number):
        self.text, self.number, self.ids = f"text {number}", number, [number, number + 1]


def rename(table):
    name = next(iter(table))
    table[f"{name}b"] = table.pop(name)


def put(thing, place, value):
    thing[place] = value


MUCH = {  # what is there, and a change of it that is another one each time
    "numbers": (lambda: list(range(30_000)), lambda data: put(data, 29_000, data[29_000] + 1)),
    "texts": (lambda: [str(i) for i in range(30_000)], lambda data: put(data, 29_000, data[29_000] + "x")),
    "tables": (lambda: [{"a": i} for i in range(30_000)], lambda data: put(data[29_000], "a", data[29_000]["a"] + 1)),
    "names of tables": (lambda: [{"a": 0} for _ in range(30_000)], lambda data: rename(data[29_000])),
    "objects": (lambda: [Item(i) for i in range(30_000)], lambda data: setattr(data[29_000], "number", data[29_000].number + 1)),
    "lists of objects": (lambda: [Item(i) for i in range(30_000)], lambda data: data[29_000].ids.append(1)),
    "small arrays": (lambda: [np.full(3, i) for i in range(5_000)], lambda data: put(data[4_900], 1, data[4_900][1] + 1)),
}


@pytest.mark.thin(3)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("kind", MUCH)
def test_a_change_far_down_in_much_data_is_seen(kind):
    make, change = MUCH[kind]
    data, last = make(), 4_900 if kind == "small arrays" else 29_000

    def still(x):
        return x * len(data)

    compiled = badak.compile(still)
    for _ in range(4):
        compiled(badak.ones(2))
    assert compiled.fallback_reason == "" and compiled.recordings

    def changing(x):
        y = x * 2
        change(data)
        return y

    compiled, seen = badak.compile(changing), [repr(vars(data[last]) if kind.endswith("objects") else data[last])]
    for _ in range(6):
        compiled(badak.ones(2))
        seen.append(repr(vars(data[last]) if kind.endswith("objects") else data[last]))
    assert len(set(seen)) == 7  # no call left it out
    assert "changes" in compiled.fallback_reason and not compiled.recordings


def test_more_objects_than_can_be_compared_are_refused(monkeypatch):
    from badak.compiler import snapshot

    monkeypatch.setattr(snapshot, "MOST", 100)
    data = [[i] for i in range(200)]

    def step(x):
        return x * len(data)

    with pytest.warns(BadakWarning, match="it can reach more than 500,000 Python objects"):
        compiled = badak.compile(step)
        for _ in range(4):
            assert compiled(badak.ones(2)).tolist() == [200.0, 200.0]
    assert not compiled.recordings
