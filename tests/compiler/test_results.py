"""A caller may change what a compiled step gives it: what shared memory without compiling does so after a replay."""

import pytest

import badak
from badak import nn, optim

USES: dict = {}


def use(function):
    """function(compiled) gives a call to make: what it returns, after the results were changed, has to be the same both ways."""
    USES[function.__name__] = function
    return function


def layer():
    badak.manual_seed(0)
    return nn.Linear(3, 3)


def changed_part(step, change):
    """A call that changes the first result in place, and tells all of them and the argument."""

    def call(x):
        found = step(x)
        change(found[0])
        return [y.clone() for y in found], x

    return call


@use
def a_row_of_another_result(compiled):
    return changed_part(compiled(lambda x: (lambda y: (y, y[0], y.t(), y[:1].expand(4, 3)))(x * 2)), lambda y: y.fill_(5.0))


@use
def chunks(compiled):
    return changed_part(compiled(lambda x: (x * 2).chunk(3, -1)), lambda y: y.fill_(5.0))


@use
def halves_of_half_precision(compiled):
    return changed_part(compiled(lambda x: (lambda y: (y[1:], y, y[:1]))(x.bfloat16() * 2)), lambda y: y.fill_(5.0))


@use
def constants(compiled):
    return changed_part(compiled(lambda x: (lambda z: (z, z[0]))(badak.zeros(2, 3))), lambda y: y.fill_(5.0))


@use
def parts_of_an_argument(compiled):
    return changed_part(compiled(lambda x: (x[0], x.t(), x.view(-1), x.detach(), x * 2)), lambda y: y.fill_(5.0))


@use
def a_part_of_an_argument_in_columns(compiled):
    call = changed_part(compiled(lambda x: (x[1], x * 2)), lambda y: y.fill_(5.0))
    return lambda x: (call(x.t()), x)


@use
def a_part_of_an_argument_that_is_changed(compiled):
    return changed_part(compiled(lambda x: (x.add_(1.0)[1], x * 2)), lambda y: y.mul_(3.0))


@use
def a_weight_without_history(compiled):
    model = layer()
    call = changed_part(compiled(lambda x: (model.weight.detach(), model.weight.data[0], x * 2)), lambda y: y.add_(1.0))
    return lambda x: (call(x), model.weight._version, model.weight.detach().clone())


@use
def a_buffer(compiled):
    norm = nn.BatchNorm1d(3)
    step = compiled(lambda x: (norm(x).detach(), norm.running_mean, norm.running_mean[1:]))

    def call(x):
        _, mean, part = step(x)
        part.add_(1.0)
        return mean is norm.running_mean, mean.clone()

    return call


@use
def a_tensor_of_the_program(compiled):
    total = badak.zeros(3)

    def step(x):
        total.add_(x.sum(0))
        return total

    step = compiled(step)

    def call(x):
        found = step(x)
        found.mul_(0.5)
        return found is total, total.clone()

    return call


@use
def gradients_that_are_scaled(compiled):
    model = layer()
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        return [p.grad for p in model.parameters()]

    step, kept = compiled(step), []

    def call(x):
        gradients = step(x)
        for dy in gradients:
            dy.mul_(0.1)
        kept.append((gradients[0], gradients[0].clone()))
        optimizer.step()
        same = [dy is p.grad for dy, p in zip(gradients, model.parameters())]
        return same, model.weight.detach().clone(), [one.equal(two) for one, two in kept]

    return call


@use
def a_part_of_a_gradient(compiled):
    model = layer()

    def step(x):
        model.zero_grad()
        model(x).square().mean().backward()
        return model.weight.grad.view(-1)[2:5], model.weight.grad

    step = compiled(step)

    def call(x):
        part, whole = step(x)
        part.zero_()
        return whole is model.weight.grad, whole.clone()

    return call


@use
def a_gradient_that_is_added_to(compiled):
    model = layer()

    def step(x):
        model(x).square().mean().backward()
        return model.weight.grad

    step = compiled(step)

    def call(x):
        found = step(x)
        found.mul_(0.5)
        return found is model.weight.grad, found.clone()

    return call


@use
def a_list_of_the_program(compiled):
    seen = [1]
    step = compiled(lambda x: (x * 2, seen, {"seen": seen}))

    def call(x):
        found = step(x)
        found[1].append(2)
        return found[1] is seen, found[2]["seen"] is seen, list(seen)

    return call


@use
def a_list_that_was_given(compiled):
    step = compiled(lambda rows: (rows, rows[0] * 2))

    def call(x):
        rows = [x]
        found = step(rows)
        found[0].append(1)
        return found[0] is rows, len(rows)

    return call


@use
def a_tensor_twice(compiled):
    step = compiled(lambda x: (lambda y: {"one": y, "rows": [y, x]})(x * 2))

    def call(x):
        found = step(x)
        return found["one"] is found["rows"][0], found["rows"][1] is x, found["one"].clone()

    return call


def whole_of_what_a_gradient_is_a_part(compiled, part, given):
    weight = badak.ones(2, requires_grad=True)

    def doubled(x):
        y = x[0].repeat(2) * 2
        weight.grad = y[part]
        return y[given]

    step = compiled(doubled)

    def call(x):
        weight.grad = None
        found = step(x)
        before = found.clone(), weight.grad.clone()
        found.zero_()
        return *before, weight.grad.clone()

    return call


@use
def memory_before_a_gradient(compiled):
    return whole_of_what_a_gradient_is_a_part(compiled, slice(4, 6), slice(None))


@use
def memory_behind_a_gradient(compiled):
    return whole_of_what_a_gradient_is_a_part(compiled, slice(0, 2), slice(1, 4))


@use
def memory_between_the_numbers_of_a_gradient(compiled):
    return whole_of_what_a_gradient_is_a_part(compiled, slice(0, 3, 2), slice(1, 2))


def with_bases(step, whole):
    """A call that tells of all results whether they are views, of what the program has, and of which other result."""

    def call(x):
        found = step(x)
        bases = [y._base for y in found]
        others = [[base is y or (base is not None and base is y._base) for y in found] for base in bases]
        return (
            [y._is_view() for y in found],
            [base is whole for base in bases],
            [base is x or base is x._base for base in bases],
            others,
        )

    return call


@use
def bases_of_parts_of_another_result(compiled):
    return with_bases(compiled(lambda x: (lambda y: (y[0], y, y.t()[1:], y.detach()))(x * 2)), None)


@use
def a_base_that_is_not_given(compiled):
    return with_bases(compiled(lambda x: (x * 2).chunk(3, -1)), None)


@use
def a_base_in_the_memory_of_the_result(compiled):
    return with_bases(compiled(lambda x: [(x * 2).view(-1)]), None)


@use
def bases_that_are_arguments(compiled):
    call = with_bases(compiled(lambda x: (x[0], x.view(-1)[2:], x)), None)
    return lambda x: (call(x), call(x.view(2, 3)))


@use
def bases_that_the_program_has(compiled):
    model = layer()
    return with_bases(compiled(lambda x: (model.weight.detach(), model.weight.data[0], model(x).detach())), model.weight)


@use
def a_base_that_is_a_gradient(compiled):
    model = layer()

    def step(x):
        model.zero_grad()
        model(x).sum().backward()
        return model.weight.grad[0], model.weight.grad

    step = compiled(step)

    def call(x):
        part, grad = step(x)
        return part._base is grad, grad is model.weight.grad

    return call


@use
def a_history_by_a_part(compiled):
    step = compiled(lambda x: (lambda y: (y[0], y[1], x.view(-1)))(x * 2))

    def call(x):
        one, two, flat = step(x)
        w = badak.full((3,), 3.0, requires_grad=True)
        one._base[1].mul_(w)
        flat[2:5].mul_(w)
        (two.sum() + x.sum()).backward()
        return one.requires_grad, two.requires_grad, x.requires_grad, w.grad

    return call


@use
def a_list_that_counts(compiled):
    seen = []
    return with_bases(compiled(lambda x: seen.append(1) or (x[0], x * 2)), None)


REFUSED = {"a_list_that_counts", "a_list_that_was_given", "a_list_of_the_program"} | {
    name for name in USES if name.startswith("memory_")
}


def shown(value):
    if isinstance(value, badak.Tensor):
        return str(value.dtype), value.stride(), value.tolist()
    return [shown(part) for part in value] if isinstance(value, list | tuple) else value


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", USES)
def test_what_results_share_without_compiling_they_share(name):
    steps = []

    def compiled(step):
        steps.append(badak.compile(step))
        return steps[-1]

    expected, found = USES[name](lambda step: step), USES[name](compiled)
    for number in range(6):
        x = badak.arange(6.0).reshape(2, 3) + number
        assert shown(found(x.clone())) == shown(expected(x.clone())), number
    assert name in REFUSED or (steps[0].fallback_reason == "" and len(steps[0].recordings) == 1)
