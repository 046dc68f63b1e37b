"""A compiled step sees what the program changes between calls, and does what the step does besides, or is not replayed."""

import pytest

import badak
import tests.compiler.ways_eighth
import tests.compiler.ways_fifth
import tests.compiler.ways_fourth
import tests.compiler.ways_seventh
import tests.compiler.ways_sixth
import tests.compiler.ways_third
import tests.compiler.ways_unseen  # noqa: F401  (they add to WAYS)
from tests.compiler.ways import WAYS
from tests.tiers import few

# A change of a value once: the step is recorded anew and replayed again. (Every other way may run as it is, with the reason.)
REPLAYED = """
    a_list_in_a_dict_in_a_list a_deque a_set a_default_dict a_comprehension a_local_alias an_alias_in_a_loop a_dataclass
    a_property_over_private_state a_class_attribute_hidden_by_an_own_one slots_below_slots an_enum_member a_default_that_is_a_list
    the_object_of_a_partial a_decorator_with_state a_list_of_layers_in_a_module early_exit_of_a_module a_config_object_of_a_module
    a_weight_of_a_loss an_environment_variable a_base_class_attribute a_keyword_default a_function_with_its_own_backward
    an_argument_that_is_a_function a_context_manager_of_ones_own numbers_of_math an_object_that_is_returned_by_a_helper
    an_attribute_by_a_partial_of_getattr a_format_that_is_kept a_slice_of_what_changes a_record_of_numpy
    the_mask_of_an_array the_coefficients_of_a_polynomial a_transform_of_a_distribution the_indices_of_a_subset
    a_function_of_two_compiled_ones
    a_mode_that_the_library_tells a_seed_that_the_library_tells the_length_of_a_tensor another_method_of_tensors
""".split()

FIRST = [name for name, made in WAYS.items() if made.__module__ in ("tests.compiler.ways", "tests.compiler.ways_unseen")]


def calls(name, compiled, number=12):
    badak.manual_seed(11)
    made = WAYS[name]()
    step, change = made
    arguments = lambda x: ((x,), {})
    if isinstance(step, tuple):
        step, arguments = step
    run = badak.compile(step) if compiled else step
    outcomes = []
    try:
        for call in range(number):
            if call == 5:
                change()
            args, kwargs = arguments(badak.arange(6.0).reshape(2, 3))
            try:
                y = run(*args, **kwargs)
                outcomes.append((str(y.dtype), y.tolist()))
            except Exception as error:
                outcomes.append(f"{type(error).__name__}: {error}")
            getattr(step, "after", lambda: None)()
            outcomes.append(getattr(step, "seen", lambda: None)())
    finally:
        getattr(step, "undo", lambda: None)()
    return outcomes, run


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", [*FIRST, *few((name for name in WAYS if name not in FIRST), 260)])
def test_no_way_goes_unseen(name):
    expected, _ = calls(name, False)
    outcomes, run = calls(name, True)
    assert repr(outcomes) == repr(expected)  # which tells NaN from numbers, and is the same for two NaN
    if name in REPLAYED:
        assert run.fallback_reason == "" and len(run.recordings) == 2
    elif not run.recordings:
        assert run.fallback_reason
