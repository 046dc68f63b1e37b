"""badak.audit as a caller meets it: what it takes, what it costs, what it leaves behind, what it refuses."""

import random

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.compiler import compiled
from badak.compiler.plan import Plan
from badak.core.errors import ArgumentError, ArgumentTypeError
from badak.inspect.audit import Audit
from badak.nn import functional as F
from tests.inspect.audit.programs import OWN, V, built, gpt, tagger, text_classifier, translator


def refused(call, kind=ArgumentError) -> str:
    with pytest.raises(kind) as error:
        call()
    text = str(error.value)
    assert text.count("\n") == 1 and "\nfix: " in text, text
    return text


# What it costs and what it leaves behind


@pytest.mark.parametrize("make", OWN, ids=lambda make: make.__name__)
def test_a_sound_model_costs_ten_forwards_and_one_backward_at_most(make, monkeypatch):
    monkeypatch.setattr(compiled, "EVERY", 0)  # the tests' own check of replays runs each function once more
    program, calls = built(make), []
    plain = program.model.forward
    backwards = []
    monkeypatch.setattr(
        badak.Tensor,
        "backward",
        lambda x, *a, _plain=badak.Tensor.backward, **k: (backwards.append(1), _plain(x, *a, **k)),
    )
    program.model.forward = lambda *args, **kwargs: (calls.append(1), plain(*args, **kwargs))[1]
    report = badak.audit(program.model, (program.args, program.kwargs), kind=program.said)
    assert len(calls) <= 10 and report.forwards <= 10
    assert report.backwards == len(backwards) == 1
    assert report.ok, report


def test_a_replay_is_the_last_of_the_forwards_and_no_call_of_python(monkeypatch):
    monkeypatch.setattr(compiled, "EVERY", 0)
    program, replays, replay = built(tagger), [], Plan.replay
    program.model.blocks[0].register_buffer("unused", badak.zeros(1))
    monkeypatch.setattr(Plan, "replay", lambda *given: (replays.append(1), replay(*given))[1])
    report = badak.audit(program.model, program.args)
    assert "compiled" in report.sound and len(replays) == 1


def test_fewer_forwards_are_kept_and_what_was_not_asked_is_said():
    program = built(gpt)
    report = badak.audit(program.model, program.args, forwards=3)
    assert report.forwards <= 3
    assert "forwards=" in report.unasked["compiled"]


def everything(model) -> dict:
    return {
        "values": {name: x.detach().numpy().tobytes() for name, x in (*model.named_parameters(), *model.named_buffers())},
        "ids": {name: id(x) for name, x in model.named_parameters()},
        "grads": {name: None if p.grad is None else (id(p.grad), p.grad.numpy().tobytes()) for name, p in model.named_parameters()},
        "modes": [m.training for m in model.modules()],
        "attributes": [sorted((k, id(v)) for k, v in vars(m).items()) for m in model.modules()],
        "hooks": [[len(v) for k, v in vars(m).items() if k.endswith("_hooks")] for m in model.modules()],
        "random": (badak.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()),
        "grad mode": badak.is_grad_enabled(),
    }


class Restless(nn.Module):
    """Changes all it can when it is called."""

    def __init__(self, fails_at: int = 10**9):
        super().__init__()
        self.table, self.norm, self.out = nn.Embedding(V, 8), nn.BatchNorm1d(8), nn.Linear(8, V)
        self.register_buffer("seen", badak.zeros(1))
        self.plain, self.calls, self.log, self.fails_at = badak.zeros(2), 0, [], fails_at

    def forward(self, ids):
        self.calls += 1
        self.log.append(self.calls)
        self.seen += 1
        self.plain.add_(1.0)
        self.made_on_the_way = badak.zeros(1)
        np.random.rand()
        random.random()
        badak.rand(1)
        if self.calls == self.fails_at:
            raise RuntimeError("enough")
        return self.out(self.norm(self.table(ids).transpose(1, 2)).transpose(1, 2))


@pytest.mark.parametrize("fails_at", [1, 2, 3, 5, 10**9])
def test_the_model_is_left_as_it_was_also_after_an_error(fails_at):
    model = Restless(fails_at)
    ids = badak.randint(V, (3, 5))
    model.table.weight.grad = badak.ones(V, 8)
    model.norm.eval()
    handle = model.out.register_forward_hook(lambda *a: None)
    before = everything(model)
    if fails_at == 1:
        assert "does not take this batch: RuntimeError: enough" in refused(lambda: badak.audit(model, ids))
    elif fails_at == 2:  # the first forward drew random numbers, so it is made again
        assert "takes this batch only once" in refused(lambda: badak.audit(model, ids))
    else:
        badak.audit(model, ids)
    assert everything(model) == before
    assert len(model.log) == 0
    handle.remove()


def test_the_batch_is_left_as_it_was():
    class Writes(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(V, 8)

        def forward(self, ids):
            y = self.table(ids)
            ids.fill_(0)
            return y

    ids = badak.randint(V, (2, 4))
    before = ids.tolist()
    report = badak.audit(Writes(), ids)
    assert ids.tolist() == before
    (finding,) = [f for f in report.findings if f.probe == "gradients"]
    assert "the backward fails: one of the variables needed" in finding.cause


def test_an_interrupted_audit_leaves_nothing_behind():
    model = built(gpt).model
    ids = badak.randint(1, V, (2, 6))
    before = everything(model)

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        badak.audit(model, ids, loss=stop)
    assert everything(model) == before


# What it takes


@pytest.mark.slow
def test_the_batch_is_a_tensor_a_tuple_a_dict_or_both():
    program = built(gpt)
    (ids,) = program.args
    texts = [str(badak.audit(program.model, batch).findings) for batch in (ids, (ids,), {"ids": ids}, ((), {"ids": ids}))]
    assert texts == ["[]"] * 4


@pytest.mark.parametrize("kind", ["causal", "bidirectional"])
def test_the_kind_can_be_said(kind):
    program = built(text_classifier)
    report = badak.audit(program.model, program.args, kind=kind)
    assert report.kind == kind and report.why == "said"


def test_a_model_said_to_be_causal_that_is_not_leaks():
    program = built(OWN[2])  # BERT
    report = badak.audit(program.model, program.args, kind="causal")
    assert [f.probe for f in report.findings] == ["future"]
    assert report.findings[0].module == "encoder.layers.0.self_attn"


def test_labels_that_are_the_text_one_further_say_that_a_model_is_causal():
    program = built(tagger)
    for block in program.model.blocks:
        block.tril.fill_(1.0)  # the mask hides nothing any more
    report = badak.audit(program.model, program.args)
    assert report.kind == "causal" and "one further" in report.why
    assert [(f.probe, f.module) for f in report.findings] == [("future", "blocks.0")]


def test_a_loss_of_the_callers_is_differentiated():
    class Headless(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = nn.Embedding(V, 8), nn.Linear(8, V)

        def forward(self, ids):
            return self.table(ids)

    model, ids = Headless(), badak.randint(V, (2, 4))
    (finding,) = [f for f in badak.audit(model, ids).findings if f.probe == "gradients"]
    assert finding.module == "head" and "takes no part in the forward" in finding.cause
    assert "gradients" in badak.audit(model, ids, loss=lambda h: model.head(h).logsumexp(-1).sum()).sound


def test_a_model_of_which_nothing_can_be_differentiated_is_a_finding():
    program = built(tagger)
    plain = program.model.forward
    program.model.forward = lambda ids: plain(ids).detach()
    (finding,) = badak.audit(program.model, program.args[:1]).findings
    assert (finding.probe, finding.module) == ("gradients", "head")


def test_a_tied_table_whose_input_side_is_cut_is_a_finding():
    program = built(gpt)
    program.model.token.register_forward_hook(lambda module, args, y: y.detach())
    (finding,) = badak.audit(program.model, program.args).findings
    assert (finding.probe, finding.module) == ("gradients", "token")
    assert "gets some from elsewhere" in finding.cause


def test_batch_norm_is_by_design_and_is_noted():
    report = badak.audit(Restless(), badak.randint(V, (3, 5)))
    assert "batch" in report.sound
    assert any("norm (BatchNorm1d)" in note and "train mode" in note for note in report.notes)


@pytest.mark.slow
def test_padding_that_the_batch_lacks_is_made_where_its_id_is_known():
    program = built(text_classifier)
    report = badak.audit(program.model, badak.randint(1, V, (4, 12)))
    assert "padding" in report.sound and any("no padding" in note for note in report.notes)


@pytest.mark.slow
def test_the_id_of_padding_can_be_said():
    program = built(gpt)
    assert "pad=ID" in badak.audit(program.model, program.args).unasked["padding"]
    assert "padding" in badak.audit(program.model, program.args, pad=0).sound


def test_a_mean_over_padding_is_a_leak_in_the_model_itself():
    class Mean(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.out = nn.Embedding(V, 8, padding_idx=0), nn.Linear(8, 2)
            self.position = nn.Embedding(12, 8)

        def forward(self, ids):
            return self.out((self.table(ids) + self.position.weight[: ids.shape[1]]).mean(1))

    report = badak.audit(Mean(), badak.tensor([[1, 2, 3, 4, 0, 0], [5, 6, 7, 0, 0, 0]]))
    leaks = [(f.probe, f.module) for f in report.findings]
    assert ("padding", "") in leaks, report


def test_a_cache_that_forgets_where_it_is_is_found():
    program = built(gpt)
    model = program.model
    model._positions = lambda T, cache, starts: model.position.weight[:T]  # positions begin again with each part
    (finding,) = badak.audit(program.model, program.args).findings
    assert finding.probe == "cache" and finding.numbers["largest change"] > 1e-3


def test_a_replay_that_gives_other_numbers_is_found(monkeypatch):
    monkeypatch.setattr(compiled, "EVERY", 0)
    program = built(gpt)
    plain = compiled.Plan.replay
    monkeypatch.setattr(compiled.Plan, "replay", lambda plan, tensors: plain(plan, tensors) * 1.001)
    (finding,) = badak.audit(program.model, program.args).findings
    assert finding.probe == "compiled"


@pytest.mark.slow
def test_a_stale_optimizer_is_found():
    program = built(gpt)
    opt = optim.AdamW(program.model.parameters())
    program.model.norm = nn.LayerNorm(32)
    (finding,) = badak.audit(program.model, program.args, optimizer=opt).findings
    assert (finding.probe, finding.module) == ("optimizers", "norm")
    assert "2 tensors that the model no longer has" in finding.cause


# What it says


@pytest.mark.slow
def test_the_report_says_what_was_found_where_and_what_helps():
    program = built(tagger)
    program.model.blocks[1].tril.fill_(1.0)
    report = badak.audit(program.model, program.args)
    text = str(report)
    assert isinstance(report, Audit) and not report.ok
    assert "future leak: blocks.1" in text and "\n  blocks.0 before it still gives what it should" in text
    assert "  fix: " in text and "causal (1 of 2 self-attentions hide what follows)" in text
    assert "10 forwards" in text or "forwards" in text
    page = report.to_html()
    assert page.startswith("<!doctype html>") and "<code>blocks.1</code>" in page
    assert "http" not in page  # it needs nothing else


def test_the_page_shows_names_as_they_are():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.add_module("<b>", nn.Linear(4, 4))
            self.used = nn.Linear(4, 4)

        def forward(self, x):
            return self.used(x)

    page = badak.audit(Odd(), badak.rand(2, 4)).to_html()
    assert "&lt;b&gt;" in page and "<code><b></code>" not in page


# What it refuses, in two lines


@pytest.mark.parametrize("shape", [(4, 8), (8, 4), (6, 6)])
def test_positions_that_count_the_rows_of_the_batch_are_no_positions(shape):
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(20, 16)
            self.position = nn.PositionalEncoding(16)  # batch_first forgotten
            self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
            self.answer = nn.Linear(16, 2)

        def forward(self, ids):
            return self.answer(self.layer(self.position(self.embedding(ids))).mean(dim=1))

    badak.manual_seed(0)
    report = badak.audit(Reader(), badak.randint(20, shape))
    assert [(finding.probe, finding.module) for finding in report.findings] == [("order", "position")], report


def test_no_module_is_refused():
    text = refused(lambda: badak.audit(lambda x: x, badak.ones(1)), ArgumentTypeError)
    assert text.startswith("audit: model is function, not a badak.nn.Module")


def test_a_model_without_parameters_is_refused():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(2, 2)]

        def forward(self, x):
            return self.layers[0](x)

    text = refused(lambda: badak.audit(Listed(), badak.ones(1, 2)))
    assert "no parameters" in text and "Listed.layers is a list with 1 module" in text


def test_what_is_no_batch_is_refused():
    model = built(gpt).model
    assert "batch is str" in refused(lambda: badak.audit(model, "text"), ArgumentTypeError)
    assert "holds no tensor" in refused(lambda: badak.audit(model, ()), ArgumentTypeError)


def test_a_batch_that_the_model_does_not_take_is_refused():
    model = built(gpt).model
    ids = badak.randint(1, V, (2, 30))
    assert "GPT does not take this batch: GPT: length 30 > context 16" in refused(lambda: badak.audit(model, ids))
    labels = badak.randint(1, V, (2, 6))
    assert "does not take this batch" in refused(lambda: badak.audit(model, (labels, labels, labels, labels)))


def test_a_model_that_is_random_in_eval_mode_is_refused_with_the_place():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.noise = nn.Embedding(V, 8), Noise()

        def forward(self, ids):
            return self.noise(self.table(ids))

    class Noise(nn.Module):
        def forward(self, x):
            return F.dropout(x, 0.3)

    text = refused(lambda: badak.audit(Noisy(), badak.randint(V, (2, 5))))
    assert "two forwards of Noisy in eval mode differ, from noise" in text


def test_a_model_with_a_generator_of_its_own_is_refused_as_well():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.out, self.draws = nn.Linear(4, 4), np.random.default_rng(0)

        def forward(self, x):
            return self.out(x) + float(self.draws.random())

    assert "in eval mode differ" in refused(lambda: badak.audit(Own(), badak.rand(3, 4)))


def test_a_model_that_gives_no_floats_is_refused():
    class Best(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(V, 8)

        def forward(self, ids):
            return self.table(ids).argmax(-1)

    assert "gives no tensor of floats" in refused(lambda: badak.audit(Best(), badak.randint(V, (2, 5))))


def test_wrong_words_are_refused():
    program = built(gpt)
    assert "kind='decoder' is none of causal" in refused(lambda: badak.audit(program.model, program.args, kind="decoder"))
    assert "optimizer holds int" in refused(lambda: badak.audit(program.model, program.args, optimizer=[3]), ArgumentTypeError)
    assert "forwards=0" in refused(lambda: badak.audit(program.model, program.args, forwards=0))
    assert "argument 'pad' must be int, not str" in refused(
        lambda: badak.audit(program.model, program.args, pad="x"), ArgumentTypeError
    )


@pytest.mark.parametrize("shape", [(1, 8), (3, 1), (1, 1), (2, 2)])
def test_small_batches_are_asked_what_can_be_asked(shape):
    report = badak.audit(built(gpt).model, badak.randint(1, V, shape))
    assert not report.findings, report


@pytest.mark.slow
def test_a_translation_of_lengths_that_differ_from_each_other_is_asked():
    program = built(translator)
    assert set(badak.audit(program.model, program.args).sound) >= {"future", "padding", "batch", "order", "positions"}


def test_layers_in_a_plain_list_are_found_before_anything_else_is_asked():
    class Listed(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(V, 8)
            self.layers = [nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) for _ in range(2)]  # with dropout

        def forward(self, ids):
            x = self.table(ids)
            for layer in self.layers:
                x = layer(x)
            return x

    report = badak.audit(Listed(), badak.randint(V, (2, 4)))
    assert not report.ok and [(each.probe, each.module) for each in report.findings] == [("gradients", "layers")]
    assert "layers is a list with 2 modules: their 24 parameters are not registered" in str(report)
    assert "nothing else was asked: eval() does not reach layers" in str(report)
