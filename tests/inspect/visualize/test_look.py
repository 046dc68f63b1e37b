"""The record of one look: what is in it, that the run is the run, that nothing of it stays, and what is refused."""

import json
import tracemalloc

import numpy as np
import pytest

import badak
from badak import nn
from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError, ShapeError, StateError
from badak.core.modes import modes
from badak.inspect.visualize.numbers import from_fixed_point
from badak.models.bert import BERT, BERTClassifier, BERTConfig, TextConfig
from badak.models.classifier import ClassifierConfig, build_classifier
from badak.models.gpt import GPT, GPTConfig
from badak.models.llama import Llama, LlamaConfig
from badak.models.seq2seq import Seq2Seq, Seq2SeqConfig
from badak.nn import functional as F

IDS = [[1, 7, 3, 9, 3, 2, 8, 3]]


def gpt(**sizes):
    badak.manual_seed(0)
    return GPT(GPTConfig(**{"vocab_size": 20, "context": 16, "d_model": 16, "heads": 2, "layers": 2} | sizes))


def ids(rows=1):
    return badak.tensor(IDS * rows)


def every():
    """(name, model, batch, labels) of each kind of model that badak has."""
    badak.manual_seed(0)
    small = {"vocab_size": 20, "context": 16, "d_model": 16, "heads": 2, "layers": 2}
    pictures = badak.rand(1, 12, 12)
    yield "gpt", gpt(dropout=0.1), ids(), badak.tensor([*IDS[0][1:], -100])
    yield "llama", Llama(LlamaConfig(**small, num_key_value_heads=1)), ids(), badak.tensor([*IDS[0][1:], -100])
    yield "bert", BERT(BERTConfig(**small)), ids(), badak.tensor([-100, 7, *[-100] * 6])
    yield "text", BERTClassifier(TextConfig(**small, classes=3)), ids(), badak.tensor([2])
    for pooling in ("flatten", "mean", "cls"):
        sizes = ClassifierConfig(rows=12, row_width=12, d_model=16, heads=2, pooling=pooling, encoder_layers=2)
        yield f"pictures {pooling}", build_classifier(sizes), pictures, badak.tensor([4])
    translator = Seq2Seq(
        Seq2SeqConfig(vocab_size=20, context=16, d_model=16, heads=2, encoder_layers=2, decoder_layers=2, feedforward=24)
    )
    yield "translate", translator, (ids(), badak.tensor([[1, 5, 6]])), badak.tensor([5, 6, 2])


MODELS = {name: rest for name, *rest in every()}


@pytest.fixture(scope="module")
def records():
    return {name: badak.look(model, batch, labels=labels).record for name, (model, batch, labels) in MODELS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_run_has_the_same_bits_with_and_without_looking(name):
    """Logits and gradients of a look, and of the same model alone."""
    model, batch, labels = MODELS[name]
    model.eval()
    given = batch if isinstance(batch, tuple) else (batch,)
    made = []

    def loss(output):
        made.append(output.detach().numpy().copy())
        return F.cross_entropy(output.reshape(-1, output.shape[-1]), labels, ignore_index=-100)

    record = badak.look(model, batch, loss=loss).record
    value = loss(model(*given))
    value.backward()
    with badak.no_grad():
        loss(model(*given))
    assert made[0].tobytes() == made[1].tobytes() == made[2].tobytes()
    for row in record["gradients"]["parameters"]:
        alone = dict(model.named_parameters())[row["name"]].grad.numpy().astype(np.float64)
        assert row["norm"] == pytest.approx(float(np.sqrt((alone**2).sum())), rel=5e-4)
    model.zero_grad()


@pytest.mark.parametrize("name", MODELS)
def test_gradients_have_the_same_bits_under_the_eyes_of_the_trace(name):
    from badak.inspect.visualize.trace import Trace

    model, batch, labels = MODELS[name]
    model.eval()
    given = batch if isinstance(batch, tuple) else (batch,)

    def gradients():
        model.zero_grad()
        output = model(*given)
        F.cross_entropy(output.reshape(-1, output.shape[-1]), labels, ignore_index=-100).backward()
        found = {key: p.grad.numpy().tobytes() for key, p in model.named_parameters() if p.grad is not None}
        model.zero_grad()
        return found

    alone = gradients()
    with Trace(model):
        watched = gradients()
    assert alone == watched == gradients()


@pytest.mark.parametrize("name", MODELS)
def test_the_model_is_left_as_it_was(name):
    model, batch, labels = MODELS[name]
    model.train()
    for p in model.parameters():
        p.grad = badak.ones_like(p)
    before = {key: x.numpy().tobytes() for key, x in model.state_dict().items()}
    grads = [(p.grad, p.grad.numpy().tobytes()) for p in model.parameters()]
    state = badak.get_rng_state().tolist()
    badak.look(model, batch, labels=labels)
    assert before == {key: x.numpy().tobytes() for key, x in model.state_dict().items()}
    assert all(p.grad is g and g.numpy().tobytes() == was for p, (g, was) in zip(model.parameters(), grads))
    assert model.training and all(module.training for module in model.modules())
    assert state == badak.get_rng_state().tolist()
    assert not any("forward" in vars(module) for module in model.modules())
    assert modes.observer is None
    model.zero_grad()


def test_the_model_is_left_as_it_was_after_an_error():
    model = gpt()
    with pytest.raises(IndexOutOfRangeError):
        badak.look(model, badak.tensor([[50]]))
    assert model.training and not any("forward" in vars(module) for module in model.modules())
    assert modes.observer is None


class Restless(nn.Module):
    """Changes its own weights in its forward, in one way or another."""

    def __init__(self, way):
        super().__init__()
        self.way, self.table, self.out = way, nn.Embedding(20, 8), nn.Linear(8, 20)

    def forward(self, ids):
        with badak.no_grad():
            self.way(self)
        return self.out(self.table(ids))


WAYS = {
    "in place": lambda model: model.out.weight.mul_(2),
    "by an index": lambda model: model.out.weight.__setitem__(0, 5.0),
    "through a view": lambda model: model.out.weight[1].zero_(),
    "by data": lambda model: setattr(model.out.weight, "data", badak.ones(20, 8)),
    "on the tensor's data": lambda model: model.out.weight.data.add_(1),
    "another parameter": lambda model: setattr(model.out, "weight", nn.Parameter(badak.ones(20, 8))),
    "by a step": lambda model: badak.optim.SGD(model.parameters(), lr=0.1).step(),
}


@pytest.mark.parametrize("way", WAYS)
def test_weights_that_the_run_itself_changes_are_given_back(way):
    model = Restless(WAYS[way])
    for p in model.parameters():
        p.grad = badak.ones_like(p)
    before = {key: x.numpy().tobytes() for key, x in model.state_dict().items()}
    own = list(model.parameters())
    badak.look(model, ids())
    assert before == {key: x.numpy().tobytes() for key, x in model.state_dict().items()}
    assert all(a is b for a, b in zip(own, model.parameters()))


def test_weights_that_are_changed_behind_badaks_back_are_not_given_back_in_silence():
    def way(model):
        model.out.weight.detach().numpy()[0] = 5

    with pytest.raises(StateError) as raised:
        badak.look(Restless(way), ids())
    assert raised.value.cause == ("the model changed its parameter out.weight behind badak's back, as by .numpy(), and it stays so")
    assert raised.value.fix == "change parameters by methods of tensors, p.copy_(x), or look at copy.deepcopy(model)"


@pytest.mark.slow
def test_a_look_copies_no_weights():
    model = gpt(vocab_size=20_000, d_model=128, layers=1)
    size = sum(p._array.nbytes for p in model.parameters())
    badak.look(gpt(), ids())  # what is made once
    tracemalloc.start()
    try:
        badak.look(model, ids())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 3 * size  # the gradients: the table's is made at both ends of the model, and summed


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_record_is_json_and_all_its_parts_fit_together(name, records):
    record = records[name]
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    boxes, layers = record["boxes"], len(record["layers"])
    assert boxes and record["attentions"] and record["streams"] and record["lens"] and record["predictions"] and record["loss"]
    for number, box in enumerate(boxes):
        assert box["kind"] in record["kinds"] and (box["layer"] is None or box["layer"] < layers)
        for i in box["inputs"]:
            assert i["box"] is None or i["box"] < number
    orders = sorted(box["back"]["order"] for box in boxes if box["back"])
    assert orders == list(range(len(orders))) and len(orders) == len(boxes)
    for kind in record["kinds"].values():
        assert kind["formula"] and kind["places"] and kind["derivation"] in {None, *record["derivations"]}
        assert all(place["code"] for place in kind["places"])
    for stream in record["streams"]:
        length = record["sequences"][stream["sequence"]]["length"]
        for state in stream["states"]:
            assert len(state["norm"]) == len(state["gradient"]) == length and state["box"] < len(boxes)
    for attention in record["attentions"]:
        assert attention["queries"] is not None and attention["keys"] is not None and attention["layer"] is not None
        for head in attention["heads"]:
            p = from_fixed_point(head["data"], attention["code"], attention["packed"] == "lower", attention["T"], attention["S"])
            np.testing.assert_allclose(p.sum(-1), 1, atol=1e-3)
    assert {box["part"] for box in boxes} >= {"embedding", "attention", "feed_forward", "output", "loss"} - (
        {"embedding"} if "pictures" in name else set()
    )


KINDS = {
    "gpt": "causal",
    "llama": "causal",
    "bert": "bidirectional",
    "text": "bidirectional",
    "translate": "encoder-decoder",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_what_each_model_is(name, records):
    record = records[name]
    assert record["model"]["kind"] == KINDS.get(name, "image")
    assert record["words"][0]["code"] == "no_vocabulary" if record["sequences"][0]["ids"] else record["words"] == []
    crosses = [a["kind"] for a in record["attentions"]]
    decoder = name == "translate" or "pictures" in name
    assert crosses == ["self", "self"] + ["self", "cross"] * ({"translate": 2}.get(name, 1) if decoder else 0)
    assert record["predictions"]["places"] == ("whole" if name == "text" or "pictures" in name else "each")
    assert len(record["streams"]) == 1 + decoder


def test_a_head_that_looks_at_the_token_before_is_named_so():
    class Before(nn.Module):
        """Attention whose weights are put in by hand: 0.9 to the token before, 0.1 to itself."""

        def __init__(self):
            super().__init__()
            self.token = nn.Embedding(20, 8)

        def forward(self, ids):
            h = self.token(ids)
            T = ids.shape[1]
            before = np.eye(T, k=-1) * np.log(9) + np.where(np.eye(T) + np.eye(T, k=-1) > 0, 0, -np.inf)
            weights = (badak.tensor(before, dtype=badak.float32) + 0 * (h @ h.transpose(-1, -2))).softmax(dim=-1)
            return h + weights @ h

    [attention] = badak.look(Before(), ids()).record["attentions"]
    [head] = attention["heads"]
    assert head["does"] == "previous" and head["scores"]["previous"] == pytest.approx(0.9, abs=0.01) and attention["causal"]


def test_tokens_have_their_texts():
    record = badak.look(gpt(), ids(), tokenizer=[f"w{i}" for i in range(20)]).record
    assert record["sequences"][0]["tokens"] == [f"w{i}" for i in IDS[0]]
    assert all(text == f"w{i}" for i, text in record["vocabulary"].items()) and {str(i) for i in IDS[0]} <= set(
        record["vocabulary"]
    )


def test_without_a_loss_the_backward_begins_from_the_likeliest_token():
    model = gpt()
    record = badak.look(model, ids(), place=3).record
    model.eval()
    logits = model(ids())[0, 3]
    assert record["loss"] == {
        "value": pytest.approx(-logits.log_softmax(-1).max().item(), rel=1e-3), "of": "token",
        "token": logits.argmax().item(), "place": 3,
    }  # fmt: skip
    assert record["row"]["place"] == 3 and record["words"][0]["code"] == "chosen_token"


def test_what_is_long_is_cut_with_a_word_about_it():
    model = gpt(context=200, layers=1)
    record = badak.look(model, badak.randint(0, 20, (3, 100)), most=30).record
    codes = {word["code"]: word["values"] for word in record["words"]}
    assert codes["cut_batch"] == {"of": 3} and codes["cut_tokens"] == {"name": "text", "kept": 30, "of": 100}
    assert record["sequences"][0]["length"] == 30 == record["attentions"][0]["T"] == len(record["predictions"]["top"])
    assert len(record["streams"][0]["states"][0]["norm"]) == 30


@pytest.mark.slow
@pytest.mark.parametrize("kind", [GPT, BERT])
def test_twelve_layers_of_twelve_heads_and_64_tokens_stay_within_their_room(kind):
    badak.manual_seed(0)
    sizes = {"vocab_size": 5000, "context": 64, "d_model": 96, "heads": 12, "layers": 12}
    model = GPT(GPTConfig(**sizes)) if kind is GPT else BERT(BERTConfig(**sizes))
    seen = badak.look(model, badak.randint(1, 5000, (1, 64)), tokenizer=lambda i: f" word{i}")
    assert len(seen.record["attentions"]) == 12
    assert len(seen.to_json().encode()) < 1_600_000


@pytest.mark.slow
def test_a_deep_model_leaves_out_operations_of_its_middle_and_says_so():
    record = badak.look(gpt(layers=40), ids()).record
    word = next(word for word in record["words"] if word["code"] == "cut_boxes")
    assert len(record["boxes"]) == word["values"]["kept"] < word["values"]["of"]
    assert {box["layer"] for box in record["boxes"]} >= {0, 39, None}


# ---------------------------------------------------------------- models of others


class Norm(nn.Module):
    """A layer norm that was written by hand."""

    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(badak.ones(width)), nn.Parameter(badak.zeros(width))

    def forward(self, x):
        mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return self.weight * (x - mean) / (var + 1e-5).sqrt() + self.bias


class Head(nn.Module):
    """One head, with its own three maps, by softmax of masked scores."""

    def __init__(self, width, size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(width, size, bias=False) for _ in range(3))

    def forward(self, x):
        T = x.shape[-2]
        scores = self.query(x) @ self.key(x).transpose(-2, -1) * self.key.weight.shape[0] ** -0.5
        return scores.masked_fill(badak.ones(T, T).tril() == 0, float("-inf")).softmax(dim=-1) @ self.value(x)


class Layer(nn.Module):
    """Heads that are modules, joined; norms after the sums."""

    def __init__(self, width):
        super().__init__()
        self.heads = nn.ModuleList([Head(width, width // 2) for _ in range(2)])
        self.out, self.norm1, self.norm2 = nn.Linear(width, width), Norm(width), Norm(width)
        self.forward_part = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = self.norm1(x + self.out(badak.cat([head(x) for head in self.heads], dim=-1)))
        return self.norm2(x + self.forward_part(x))


class ByHand(nn.Module):
    """ids (B, T), or (T, B) with `first`; gives (a class of the whole, logits)."""

    def __init__(self, first=False):
        super().__init__()
        self.first, self.token = first, nn.Embedding(20, 16)
        self.layers = nn.ModuleList([Layer(16) for _ in range(3)])
        self.head, self.whole = nn.Linear(16, 20), nn.Linear(16, 2)

    def forward(self, ids):
        h = self.token(ids.T if self.first else ids)
        for layer in self.layers:
            h = layer(h)
        logits = self.head(h)
        return self.whole(h[:, 0]), logits.transpose(0, 1) if self.first else logits


@pytest.mark.slow
@pytest.mark.parametrize("first", [False, True])
def test_a_model_written_by_hand_is_understood_by_what_it_computes(first):
    badak.manual_seed(0)
    batch = badak.randint(0, 20, (2, 7))
    record = badak.look(ByHand(first), batch.T if first else batch).record
    assert [layer["name"] for layer in record["layers"]] == ["layers.0", "layers.1", "layers.2"]
    assert [(len(each["heads"]), each["causal"], each["layer"]) for each in record["attentions"]] == [
        (2, True, i) for i in range(3)
    ]
    [stream] = record["streams"]
    assert [(s["layer"], s["part"]) for s in stream["states"]] == [
        (None, "embedding"), *[(i, part) for i in range(3) for part in ("attention", "feed_forward")],
    ]  # fmt: skip
    assert record["predictions"]["places"] == "each" and len(record["lens"]["layers"]) == 4
    assert record["sequences"][0]["length"] == 7 and record["words"][0]["code"] == "cut_batch"
    final = [[i for i, *_ in row] for row in record["predictions"]["top"]]
    assert [[i for i, _ in row] for row in record["lens"]["layers"][-1]["top"]] == [row[:5] for row in final]


@pytest.mark.slow
def test_scores_that_are_hidden_by_minus_infinity_are_no_obstacle_to_a_page():
    seen = badak.look(ByHand(), ids())
    assert "-inf" in {box["settings"].get("c") for box in seen.record["boxes"]}
    assert json.loads(seen.to_json()) == seen.record and "</html>" in seen.to_html()


def test_what_cannot_be_known_is_left_out_with_a_word():
    badak.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    record = badak.look(model, badak.rand(1, 6), labels=badak.tensor([2])).record
    assert [word["code"] for word in record["words"]] == ["no_attention", "no_stream"]
    assert record["attentions"] == [] == record["streams"] and record["lens"] is None
    assert [box["kind"] for box in record["boxes"]] == ["Linear", "Tanh", "Linear", "CrossEntropy"]
    assert record["predictions"]["labels"] == [2] and all(box["back"] for box in record["boxes"])


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("options", "error", "cause", "fix"),
    [
        ({"model": 3}, ArgumentTypeError, "look: model is int, not a badak.nn.Module", "badak.look(model, batch), the model first"),
        (
            {"kind": "text"}, ArgumentError,
            "look: kind='text' is none of causal, bidirectional, encoder-decoder, image", "kind=None finds it",
        ),
        ({"loss": 3}, ArgumentTypeError, "look: loss is int, no function", "loss=lambda output: output.loss"),
        ({"loss": len, "labels": [1]}, ArgumentError, "look: loss and labels are two ways to say the same", "give one of them"),
        ({"most": 0}, ArgumentError, "look: most must be an integer of 1 or more; got 0", "most=1"),
        ({"place": 8}, IndexOutOfRangeError, "look: place 8 of a text of which 8 tokens are shown", "place=7, or most=9"),
        (
            {"labels": [1, 2]}, ShapeError,
            "look: 2 labels for 8 answers", "a label for each token, -100 for one that does not count",
        ),
        (
            {"labels": [0.5]}, ArgumentTypeError,
            "look: labels of badak.float32, no integers", "labels=ids, or a class number",
        ),
        (
            {"loss": lambda y: y}, ArgumentError,
            "look: loss gives no single number", "loss=lambda output: F.cross_entropy(output.flatten(0, 1), labels)",
        ),
        (
            {"batch": 3}, ArgumentTypeError, "look: batch is int, not what a model can be called with",
            "a tensor, a tuple of the model's arguments, or a dict of them by name",
        ),
        (
            {"batch": badak.tensor([1, 2])}, ArgumentError,
            "look: ids of shape (2,) holds no row of a batch", "a batch of one row: x[None]",
        ),
    ],
)  # fmt: skip
def test_what_is_refused_says_why_and_what_helps(options, error, cause, fix):
    options = {"model": gpt(), "batch": ids()} | options
    model, batch = options.pop("model"), options.pop("batch")
    with pytest.raises(error) as caught:
        badak.look(model, batch, **options)
    assert (caught.value.cause, caught.value.fix) == (cause, fix)


def test_a_batch_that_the_model_does_not_take_is_refused():
    class Refusing(nn.Linear):
        def forward(self, x):
            raise LookupError("not this one")

    with pytest.raises(ArgumentError) as caught:
        badak.look(Refusing(3, 3), badak.ones(1, 3))
    assert caught.value.cause == "look: Refusing does not take this batch: LookupError: not this one"
    assert caught.value.fix == "the batch is what the model is called with: look(model, (x,)), look(model, {'ids': x})"


def test_a_place_in_no_text_is_refused():
    with pytest.raises(ArgumentError, match="place=99 of a model that reads no text") as caught:
        badak.look(nn.Linear(4, 4), badak.ones(2, 4), place=99)
    assert caught.value.fix == "leave place out"


class OwnNames(nn.Module):
    """An encoder and decoder with names of its own; `swapped`: the answer is the first argument."""

    def __init__(self, swapped):
        super().__init__()
        self.a, self.b, self.place = nn.Embedding(20, 16), nn.Embedding(20, 16), nn.Embedding(8, 16)
        self.net, self.out, self.swapped = nn.Transformer(16, 2, 1, 1, 32, batch_first=True), nn.Linear(16, 20), swapped

    def forward(self, x, y):
        read, said = (y, x) if self.swapped else (x, y)
        mask = nn.Transformer.generate_square_subsequent_mask(said.shape[1])
        return self.out(self.net(self.a(read) + self.place.weight[: read.shape[1]], self.b(said), tgt_mask=mask))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("said", [[15, 11, 12, 13, 14], [15, 11, 12], [1, 2, 3, 4, 0]], ids=["as long", "shorter", "the same ids"])
def test_who_reads_and_who_answers_is_seen_and_not_read_from_names(swapped, said):
    badak.manual_seed(0)
    read = [1, 2, 3, 4, 0]
    batch = [badak.tensor([said]), badak.tensor([read])] if swapped else [badak.tensor([read]), badak.tensor([said])]
    record = badak.look(OwnNames(swapped), tuple(batch)).record
    assert [(each["name"], each["ids"]) for each in record["sequences"]] == [("source", read), ("target", said)]
    sides = [(each["path"].split(".")[1], each["queries"], each["keys"]) for each in record["attentions"]]
    assert sides == [("encoder", 0, 0), ("decoder", 1, 1), ("decoder", 1, 0)], sides
