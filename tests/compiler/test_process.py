"""What is another one for the thread, or for the place, that calls a compiled step, is seen."""

import decimal
import sys
import threading

import pytest

import badak
from badak.compiler import compiled

PLACES = {}


def place(make):
    """make() gives (step, the call of a step in another place)."""
    PLACES[make.__name__] = make
    return make


def in_a_handler(step, x):
    try:
        raise KeyError("outside")
    except KeyError:
        return step(x)


def in_a_thread(prepare=lambda: None):
    def call(step, x):
        found = []
        thread = threading.Thread(target=lambda: (prepare(), found.append(step(x))))
        thread.start()
        thread.join()
        return found[0]

    return call


@place
def the_error_that_is_handled():
    return (lambda x: x * (2.0 if sys.exc_info()[1] is None else 3.0)), in_a_handler


@place
def the_error_before_an_error():
    def step(x):
        try:
            raise ValueError
        except ValueError as error:
            return x * (2.0 if error.__context__ is None else 3.0)

    return step, in_a_handler


@place
def what_a_thread_has_put_there():
    local = threading.local()
    local.scale = 2.0
    return (lambda x: x * local.scale), in_a_thread(lambda: setattr(local, "scale", 3.0))


@place
def what_a_thread_finds_at_first():
    main = threading.current_thread()

    class Local(threading.local):
        def __init__(self):
            self.scales = [2.0 if threading.current_thread() is main else 3.0]

    local = Local()
    return (lambda x: x * local.scales[0]), in_a_thread()


@place
def the_context_of_a_thread():
    def step(x):
        return x * float(decimal.Decimal(2) / 3)

    return step, in_a_thread(lambda: decimal.setcontext(decimal.Context(prec=3)))


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", PLACES)
def test_a_step_sees_from_where_it_is_called(name, monkeypatch):
    monkeypatch.setattr(compiled, "EVERY", 0)  # a replay that is checked writes back what it has read, which is seen
    step, elsewhere = PLACES[name]()
    run = badak.compile(step)
    for number in range(12):
        x = badak.arange(3.0) + number
        call = elsewhere if number in (5, 8, 9) else lambda step, x: step(x)
        assert call(run, x).tolist() == call(step, x).tolist(), number
    assert sum(plan.count for plan in run.recordings)  # where nothing else is handled, or put there, it is replayed
