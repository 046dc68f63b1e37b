"""state_dict both ways between the two libraries, hooks around it, and what is said when it does not fit."""

import copy
import gc
import warnings
import weakref
from collections import OrderedDict

import pytest
import torch

import badak
from badak import nn
from tests.parity.compare import array, copy_state


def both(make):
    for lib in (badak, torch):
        lib.manual_seed(0)
    return make(badak), make(torch)


def as_torch(state):
    return {key: torch.from_numpy(array(value).copy()) for key, value in state.items()}


MODELS = {
    "Transformer": lambda lib: lib.nn.Transformer(8, 2, 1, 2, 12),
    "separate projections": lambda lib: lib.nn.MultiheadAttention(8, 2, kdim=3, vdim=5, add_bias_kv=True),
    "no bias": lambda lib: lib.nn.TransformerDecoderLayer(8, 2, 12, bias=False),
    "norms": lambda lib: lib.nn.Sequential(lib.nn.LayerNorm(3), lib.nn.RMSNorm(3), lib.nn.GroupNorm(1, 3), lib.nn.PReLU()),
    "losses": lambda lib: lib.nn.Sequential(
        lib.nn.CrossEntropyLoss(weight=lib.ones(3)), lib.nn.BCEWithLogitsLoss(pos_weight=lib.ones(2)), lib.nn.NLLLoss()
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_state_travels_both_ways(name):
    ours, theirs = both(MODELS[name])
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert ours.state_dict()._metadata == theirs.state_dict()._metadata
    copy_state(theirs, ours)
    assert repr(theirs.load_state_dict(as_torch(ours.state_dict()))) == "<All keys matched successfully>"
    for key, value in theirs.state_dict().items():
        assert (array(ours.state_dict()[key]) == array(value)).all()


def test_state_is_detached_and_shares_memory():
    linear = nn.Linear(2, 2)
    state = linear.state_dict()
    assert not state["weight"].requires_grad and linear.state_dict(keep_vars=True)["weight"] is linear.weight
    with badak.no_grad():
        linear.weight.fill_(3)
    assert state["weight"].tolist() == [[3, 3], [3, 3]]
    given = OrderedDict()
    assert linear.state_dict(destination=given, prefix="a.") is given and list(given) == ["a.weight", "a.bias"]
    assert list(linear.state_dict(OrderedDict(), "a.")) == ["a.weight", "a.bias"]


def test_loading_copies_and_keeps_the_parameters():
    linear = nn.Linear(2, 2)
    before, given = linear.weight, badak.ones(2, 2, dtype=badak.float64)
    result = linear.load_state_dict({"weight": given, "bias": badak.zeros(2)})
    assert repr(result) == str(result) == "<All keys matched successfully>"
    assert linear.weight is before and linear.weight.dtype == badak.float32 and linear.weight.tolist() == [[1, 1], [1, 1]]


def test_assign_takes_the_tensors_themselves():
    linear = nn.Linear(2, 2).requires_grad_(False)
    given = badak.ones(2, 2, dtype=badak.float64)
    linear.load_state_dict({"weight": given, "bias": nn.Parameter(badak.zeros(2))}, assign=True)
    assert isinstance(linear.weight, nn.Parameter) and linear.weight.dtype == badak.float64
    assert not linear.weight.requires_grad and not linear.bias.requires_grad
    given.fill_(5)
    assert linear.weight[0, 0].item() == 5


def test_a_loose_load_gives_back_what_did_not_match():
    def story(lib):
        return lib.nn.Linear(2, 3).load_state_dict({"a": lib.ones(1)}, strict=False)

    assert repr(story(badak)) == repr(story(torch)) == "_IncompatibleKeys(missing_keys=['weight', 'bias'], unexpected_keys=['a'])"
    assert story(badak).missing_keys == ["weight", "bias"]


def error_of(module, state, **options):
    with pytest.raises(RuntimeError) as caught:
        module.load_state_dict(state, **options)
    return str(caught.value)


def test_every_problem_is_told_at_once_in_pytorchs_opening_words():
    def story(lib):
        model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Linear(3, 1))
        return error_of(model, {"0.weight": lib.ones(4, 2), "x": lib.ones(1), "1.weight": lib.ones(1, 3), "2.bias": lib.ones(1)})

    size = repr(badak.ones(1).shape).partition("(")[0]
    ours, theirs = story(badak), story(torch).replace("torch.Size", size)
    assert ours.startswith(theirs)
    assert "Missing key(s)" in ours and "Unexpected key(s)" in ours and "size mismatch for 0.weight" in ours


def test_what_is_no_tensor_is_said():
    text = error_of(nn.Linear(1, 1), {"weight": 3, "bias": badak.ones(1)})
    assert 'While copying the parameter named "weight"' in text and "received int" in text
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'int'>"):
        nn.Linear(1, 1).load_state_dict(3)


class Embedder(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embedding, self.lm_head = nn.Embedding(vocab, 4), nn.Linear(4, vocab, bias=False)


def test_another_vocabulary_is_recognised():
    text = error_of(Embedder(12), Embedder(10).state_dict())
    assert "embedding: file has 10 tokens, model 12 (lm_head too). Rows 0-9 can be reused." in text
    assert text.endswith("fix: build the model with vocab_size=10")


def test_a_prefix_too_many_is_recognised_and_taken_off():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    wrapped = {f"module.{key}": value + 1 for key, value in model.state_dict().items()}
    text = error_of(model, wrapped)
    assert 'all 4 keys start with \'module.\' (DataParallel); nearest match: "module.0.weight" is "0.weight" here.' in text
    assert text.endswith('fix: load_state_dict(state, strip_prefix="module.")')
    model.load_state_dict(wrapped, strip_prefix="module.")
    assert (model[0].weight == wrapped["module.0.weight"]).all()


def test_a_prefix_too_few_is_recognised():
    inner = nn.Linear(2, 2)
    outer = nn.Module()
    outer.backbone = inner
    text = error_of(outer, nn.Linear(2, 2).state_dict())
    assert "all 2 keys of the model start with 'backbone.'" in text and text.endswith("fix: model.backbone.load_state_dict(state)")


def test_the_fix_for_a_part_of_a_container_is_python_that_works():
    model, state = nn.Sequential(nn.Linear(2, 2)), nn.Linear(2, 2).state_dict()
    text = error_of(model, state)
    assert text.endswith('fix: model.get_submodule("0").load_state_dict(state)')
    eval(text.rpartition("fix: ")[2])
    assert (model[0].weight == state["weight"]).all()


def test_nearly_matching_keys_are_shown():
    class Old(nn.Module):
        def __init__(self, name):
            super().__init__()
            setattr(self, name, nn.Linear(1, 1))
            self.other = nn.Linear(1, 1)

    assert '"projection.weight" is perhaps "projections.weight"' in error_of(Old("projection"), Old("projections").state_dict())


# ------------------------------------------------------------------ extra state and hooks


def extra(lib):
    class Extra(lib.nn.Module):
        got = None

        def get_extra_state(self):
            return {"step": 3}

        def set_extra_state(self, state):
            self.got = state

    return Extra


@pytest.mark.parametrize("lib", [badak, torch], ids=["badak", "torch"])
def test_extra_state_travels_along(lib):
    model = lib.nn.Sequential(extra(lib)())
    assert list(model.state_dict()) == ["0._extra_state"]
    model.load_state_dict({"0._extra_state": {"step": 9}})
    assert model[0].got == {"step": 9}
    assert 'Missing key(s) in state_dict: "0._extra_state"' in error_of(model, {})
    assert 'Unexpected key(s) in state_dict: "_extra_state"' in error_of(lib.nn.ReLU(), {"_extra_state": 1})


def hook_story(lib):
    told, model = [], lib.nn.Sequential(lib.nn.Linear(1, 1))
    model.register_state_dict_pre_hook(lambda module, prefix, keep_vars: told.append(("pre", prefix, keep_vars)))
    model[0].register_state_dict_post_hook(lambda module, state, prefix, meta: told.append(("post", prefix, sorted(meta))))
    model._register_state_dict_hook(lambda module, state, prefix, meta: OrderedDict(state, extra=lib.ones(1)))
    model[0]._register_load_state_dict_pre_hook(lambda state, prefix, *rest: told.append(("load", prefix, sorted(state))))
    model.register_load_state_dict_pre_hook(lambda module, state, *rest: state.pop("extra"))
    model.register_load_state_dict_post_hook(lambda module, keys: told.append(("after", type(module).__name__, list(keys))))
    state = model.state_dict()
    told.append(sorted(state))
    model.load_state_dict(state)
    return told


def test_hooks_around_the_state_run_as_in_pytorch():
    assert hook_story(badak) == hook_story(torch)


def test_loading_may_be_overridden():
    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "old_weight")
            super()._load_from_state_dict(state_dict, prefix, *rest)

    linear = Renamed(1, 1)
    linear.load_state_dict({"old_weight": badak.ones(1, 1), "bias": badak.zeros(1)})
    assert linear.weight.item() == 1


def test_a_prefix_is_consumed_in_place():
    def story(lib, consume):
        state = OrderedDict((f"module.{key}", value) for key, value in lib.nn.Sequential(lib.nn.Linear(1, 1)).state_dict().items())
        state._metadata = OrderedDict({"": {"version": 1}, "module": {"version": 1}, "module.0": {"version": 2}})
        consume(state, "module.")
        return list(state), sorted(state._metadata)

    ours = story(badak, nn.modules.utils.consume_prefix_in_state_dict_if_present)
    theirs = story(torch, torch.nn.modules.utils.consume_prefix_in_state_dict_if_present)
    assert ours == theirs


def test_a_hook_does_not_keep_its_module():
    module = nn.Linear(2, 2)
    module.register_load_state_dict_pre_hook(lambda module, *others: seen.append(module))
    seen: list = []
    twin, gone = copy.deepcopy(module), weakref.ref(module)
    gc.disable()
    try:
        del module
        assert gone() is None
    finally:
        gc.enable()
    twin.load_state_dict(nn.Linear(2, 2).state_dict())
    assert seen == [twin]


def test_values_that_a_meta_parameter_cannot_take_are_told_as_in_pytorch():
    def story(lib):
        with lib.device("meta"):
            linear = lib.nn.Linear(3, 5)
        state = linear.state_dict()
        state["weight"] = lib.zeros(5, 3)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            linear.load_state_dict(state)
            linear.load_state_dict(state, assign=True)
        return [(one.category, str(one.message).split("\n")[0]) for one in seen], linear.weight.is_meta, linear.bias.is_meta

    assert story(badak) == story(torch)


def test_hooks_that_programs_put_into_the_tables_of_a_state_run_as_in_pytorch():
    class Watching:
        def after(self, module, state, prefix, metadata):
            state["seen"] = prefix

    def story(lib):
        module = lib.nn.Sequential(lib.nn.Linear(1, 1))
        module._state_dict_hooks[7] = lambda module, state, prefix, metadata: {**state, "own": 1}

        def post(module, state, prefix, metadata):
            state["post"] = prefix

        module[0].register_state_dict_post_hook(post)
        made = sorted(module.state_dict())
        with pytest.raises(RuntimeError) as error:
            module[0]._register_state_dict_hook(post)
        return made, post._from_public_api, str(error.value).split("\n")[0]

    assert story(badak) == story(torch)
    linear = nn.Linear(1, 1)
    linear.register_state_dict_post_hook(Watching().after)
    assert "seen" in linear.state_dict()


def test_a_module_of_an_older_release_without_a_table_of_hooks_is_saved(tmp_path):
    module = nn.Softmax(1)
    del module._load_state_dict_post_hooks
    badak.save(module, tmp_path / "old.pt")
    module = badak.load(tmp_path / "old.pt", weights_only=False)
    assert module.load_state_dict({}) is not None
    module.register_load_state_dict_post_hook(lambda *given: None)
