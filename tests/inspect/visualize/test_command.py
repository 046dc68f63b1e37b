"""badak look RUN | FOLDER | SCRIPT: what it writes for each task, and what it refuses."""

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

import badak
from badak.cli import main
from badak.data.tokenizer import Tokenizer
from badak.inspect.visualize.sources import look_at_run
from badak.models import GPT
from badak.training.build import open_model
from tests.cli.test_hub import marian

pytestmark = pytest.mark.slow

SMALL = ["--d-model", "16", "--epochs", "1"]
TASKS = {
    "gpt": ["--preset", "sentences", "--heads", "2", "--layers", "2", "--context", "24", *SMALL],
    "bert": ["--heads", "2", "--layers", "2", *SMALL],
    "text": SMALL,
    "translate": ["--preset", "phrases", "--heads", "2", "--feedforward", "24", *SMALL],
    "classify": ["--data", "digits", *SMALL],
}


def said(*arguments):
    """(code, stdout, stderr) of a command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(each) for each in arguments])
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a run of each task, named as the task, and a picture."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        digits()
        for task, options in TASKS.items():
            code, _, err = said("train", task, *options, "--run", task)
            assert code == 0, err
        picture = np.zeros((28, 28), np.uint8)
        picture[10:14, 4:24] = 250
        Image.fromarray(picture).save("digit.png")
        yield folder


def digits():
    """A small MNIST: bars whose place is their class."""
    Path("digits").mkdir()
    for prefix, count in (("train", 40), ("t10k", 10)):
        labels = (np.arange(count) % 10).astype(np.uint8)
        pictures = np.zeros((count, 28, 28), np.uint8)
        for picture, label in zip(pictures, labels):
            picture[2 * label + 2 : 2 * label + 5] = 250
        sizes = b"".join(n.to_bytes(4, "big") for n in (count, 28, 28))
        Path(f"digits/{prefix}-images-idx3-ubyte").write_bytes(b"\0\0\x08\x03" + sizes + pictures.tobytes())
        Path(f"digits/{prefix}-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + sizes[:4] + labels.tobytes())


ASKED = {
    "gpt": ["나는 학교에"],
    "bert": ["Great minds [MASK] alike, but they also think differently"],
    "text": ["영화가 너무나 지루해요", "--label", "bad"],
    "translate": None,
    "classify": ["digit.png", "--label", "4"],
}


def asked(task, place):
    if task == "gpt":
        trained = open_model(place / "gpt", "gpt")
        return [trained.vocabulary.decode(range(6, 12))]
    if task == "translate":
        vocabulary = open_model(place / "translate", "translate").vocabulary
        return [vocabulary.decode(range(10, 14))]
    return ASKED[task]


@pytest.mark.thin(3)
@pytest.mark.parametrize("task", TASKS)
def test_a_run_of_each_task_becomes_a_page(task, place):
    code, out, err = said("look", task, *asked(task, place), "-o", "page.html")
    assert code == 0, err
    assert re.fullmatch(rf"page.html shows {task}: \w+: open it in a browser\n", out)
    page = (place / "page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert f"<title>{task}: " in page


@pytest.mark.parametrize("task", TASKS)
def test_the_record_of_a_run_has_its_words_and_its_labels(task, place):
    arguments = asked(task, place)
    record = look_at_run(task, arguments[0], label=arguments[2] if len(arguments) > 1 else None).record
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    codes = [word["code"] for word in record["words"]]
    first, last = record["sequences"][0], record["sequences"][-1]
    if task == "gpt":
        assert " ".join(first["tokens"]) == arguments[0] and first["labels"] == [*first["ids"][1:], -1] and codes == []
    elif task == "bert":
        hole = first["tokens"].index("[MASK]")
        assert record["row"]["place"] == hole == record["loss"]["place"] and codes == ["chosen_token"]
        assert record["words"][0]["values"]["word"] == record["vocabulary"][str(record["loss"]["token"])]
    elif task == "text":
        assert first["tokens"][0] == "[CLS]" and record["predictions"]["classes"] == ["bad", "good"]
        assert record["predictions"]["labels"] == [0] and record["loss"]["of"] == "labels"
    elif task == "translate":
        assert [first["name"], last["name"]] == ["source", "target"] and codes == ["own_translation"]
        assert last["labels"][:-1] == last["ids"][1:]
    else:
        assert first["picture"]["boxes"] == [[0, i, 28, 1] for i in range(28)] and record["predictions"]["labels"] == [4]
    assert all(box["back"] for box in record["boxes"])


@pytest.mark.parametrize("task", TASKS)
def test_without_a_text_it_is_the_next_row_of_the_training(task, place):
    before = {path.name: path.read_bytes() for path in (place / task).iterdir()}
    record = look_at_run(task).record
    assert record["loss"]["of"] == "labels" and record["attentions"]
    assert before == {path.name: path.read_bytes() for path in (place / task).iterdir()}


def test_a_translation_that_is_asked_for_is_the_target(place):
    vocabulary = open_model(place / "translate", "translate").vocabulary
    text = vocabulary.decode(range(10, 14))
    record = look_at_run("translate", text, target=text).record
    assert record["words"] == [] and "".join(record["sequences"][1]["tokens"][1:]).strip() == text.strip()


def test_a_text_longer_than_the_context_is_cut_with_a_word_about_it(place):
    vocabulary = open_model(place / "gpt", "gpt").vocabulary
    record = look_at_run("gpt", vocabulary.decode([7] * 40)).record
    assert record["words"][0]["code"] == "cut_context" and record["words"][0]["values"] == {"kept": 24, "of": 40}
    assert record["sequences"][0]["length"] == 24


def test_a_folder_of_hugging_face(place):
    badak.manual_seed(0)
    tokenizer = Tokenizer.train_bpe(["the cat sat on the mat and the dog"] * 5, 300)
    folder = place / "published"
    transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=len(tokenizer), n_positions=16, n_embd=16, n_layer=2, n_head=2)
    ).save_pretrained(folder)
    tokenizer.save(folder / "tokenizer.json")
    code, out, err = said("look", "published", "the cat sat", "-o", "page.html")
    assert (code, out) == (0, "page.html shows published: GPT: open it in a browser\n"), err
    record = look_at_run("published", "the cat sat").record
    assert "".join(record["sequences"][0]["tokens"]) == "the cat sat"


BERT = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", *(f"w{i}" for i in range(22))]


@pytest.fixture(scope="module")
def folders(place):
    """Folders as Hugging Face's library writes them, a small model of each family; their names."""
    torch.manual_seed(0)
    Path("vocab.txt").write_text("\n".join(WORDS))
    pieces = transformers.BertTokenizer("vocab.txt")
    bert = transformers.BertConfig(**BERT, max_position_embeddings=16, num_labels=3)
    bpe = Tokenizer.train_bpe(["the cat sat on the mat and the dog"] * 5, 300)
    llama = transformers.LlamaConfig(**BERT | {"vocab_size": len(bpe)}, num_key_value_heads=1, max_position_embeddings=16)
    distil = transformers.DistilBertConfig(vocab_size=30, dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=16)
    sizes = {name: size for name, size in BERT.items() if name != "vocab_size"}
    vit = transformers.ViTConfig(**sizes, image_size=16, patch_size=4, num_labels=3)
    t5 = transformers.T5Config(vocab_size=30, d_model=16, d_kv=8, d_ff=24, num_layers=1, num_heads=2)
    made = {
        "hf-bert": transformers.BertForMaskedLM(bert),
        "hf-classifier": transformers.BertForSequenceClassification(bert),
        "hf-llama": transformers.LlamaForCausalLM(llama),
        "hf-distilbert": transformers.DistilBertForMaskedLM(distil),
        "hf-vit": transformers.ViTForImageClassification(vit),
        "hf-t5": transformers.T5ForConditionalGeneration(t5),
    }
    for name, model in made.items():
        model.save_pretrained(name)
        if "llama" in name:
            bpe.save(f"{name}/tokenizer.json")
        elif "vit" not in name:
            pieces.save_pretrained(name)
    transformers.ViTImageProcessorPil(size={"height": 16, "width": 16}).save_pretrained("hf-vit")
    Image.fromarray(np.arange(20 * 20 * 3, dtype=np.uint8).reshape(20, 20, 3)).save("cat.png")
    return made


OURS = [
    ("hf-bert", "the [MASK] sat", ["[CLS]", "the", "[MASK]", "sat", "[SEP]"], {}),
    ("hf-classifier", "the cat sat", ["[CLS]", "the", "cat", "sat", "[SEP]"], {"label": "LABEL_1"}),
    ("hf-llama", "the cat sat", ["the", " cat", " sat"], {}),
]


@pytest.mark.parametrize(("name", "what", "tokens", "asked"), OURS, ids=[row[0] for row in OURS])
def test_a_folder_of_each_family_that_badak_has(name, what, tokens, asked, folders):
    record = look_at_run(name, what, **asked).record
    assert record["sequences"][0]["tokens"] == tokens and record["loss"]["of"] == ("token" if name == "hf-bert" else "labels")
    assert len(record["layers"]) == len(record["attentions"]) == 2 and record["lens"] is not None
    if name == "hf-bert":
        assert record["row"]["place"] == 2
    if name == "hf-classifier":
        assert record["predictions"]["classes"] == ["LABEL_0", "LABEL_1", "LABEL_2"] and record["predictions"]["labels"] == [1]


def test_a_folder_of_a_translator(tmp_path):
    folder, _ = marian(tmp_path, "acme/de-en")
    first, last = look_at_run(str(folder), "ein Hund").record["sequences"]
    assert first["name"] == "source" and first["length"] >= 3
    assert last["name"] == "target" and last["labels"][:-1] == last["ids"][1:]


def looked_at(*arguments):
    """(code, stdout, stderr) of `badak look` in a process of its own: no PyTorch was imported there."""
    environment = {**os.environ, "PYTHONPATH": str(Path(badak.__file__).parent.parent)}
    command = [sys.executable, "-m", "badak", "look", *arguments, "-o", "page.html"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


def shown():
    """The record in page.html."""
    page = Path("page.html").read_text(encoding="utf-8")
    return json.loads(re.search('id="record">(.*?)</script>', page)[1])


@pytest.mark.thin(1)
@pytest.mark.parametrize(
    ("name", "what", "options"), [("hf-distilbert", "the [MASK] sat", []), ("hf-vit", "cat.png", ["--label", "LABEL_2"])]
)
def test_a_folder_of_a_family_that_badak_has_not_is_read_by_transformers(name, what, options, folders):
    code, out, err = looked_at(name, what, *options)
    assert code == 0, err
    assert out == f"page.html shows {name}: {type(folders[name]).__name__}: open it in a browser\n"
    record = shown()
    assert len(record["attentions"]) == len(record["layers"]) == 2
    folders[name].eval()
    if name == "hf-vit":
        assert record["predictions"]["classes"] == ["LABEL_0", "LABEL_1", "LABEL_2"] and record["predictions"]["labels"] == [2]
        pixels = transformers.ViTImageProcessorPil.from_pretrained(name)(Image.open(what), return_tensors="pt")
    else:
        assert record["sequences"][0]["tokens"] == ["[CLS]", "the", "[MASK]", "sat", "[SEP]"] and record["row"]["place"] == 2
        pixels = {"input_ids": torch.tensor([[2, 5, 4, 7, 3]])}
    with torch.no_grad():
        p = folders[name](**pixels).logits[0].softmax(-1)
    for row, best in zip(p.reshape(-1, p.shape[-1]), record["predictions"]["top"]):
        for number, share, _ in best[:3]:
            assert share == pytest.approx(float(row[number]), rel=2e-3)


NOT_LOOKED_AT = [
    (["hf-vit", "none.png"], "none.png: there is no such picture", "check the path"),
    (["hf-vit"], "hf-vit: no picture", "badak look hf-vit picture.png"),
    (
        ["hf-t5", "a"],
        "hf-t5: badak look does not know what the decoder of a t5 begins with",
        "a program that calls the model with its decoder_input_ids: badak look PROGRAM",
    ),
]


@pytest.mark.parametrize(("arguments", "cause", "fix"), NOT_LOOKED_AT, ids=[" ".join(row[0]) for row in NOT_LOOKED_AT])
def test_a_folder_that_cannot_be_looked_at_is_refused(arguments, cause, fix, folders):
    code, _, err = said("look", *arguments)
    assert code == 2 and err.splitlines()[-2:] == [f"error: {cause}", f"fix: {fix}"], err


SCRIPT = """
import sys
import torch
from torch import nn

model = nn.Sequential(nn.Embedding(20, 8), nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), nn.Linear(8, 20))
print("begins", sys.argv[1:])
model(torch.arange(int(sys.argv[2]))[None])
"""


def test_a_program_runs_until_its_model_is_called(place):
    (place / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "badak", "look", "train.py", "-o", "page.html", "--", "--tokens", "7"]
    environment = {**os.environ, "PYTHONPATH": str(Path(badak.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=place, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "page.html shows train.py: Sequential: open it in a browser\n"
    assert "begins ['--tokens', '7']" in done.stderr


THEIRS = """
import json, sys
from badak.compat.torch.first_call import first_call
import badak
call = first_call("theirs.py", sys.argv[1:], False)
record = badak.look(call.model, (call.args, call.kwargs)).record
parts = [[state["layer"], state["part"]] for state in record["streams"][0]["states"]]
print(json.dumps([record["model"], len(record["attentions"]), parts, len(record["lens"]["layers"]), record["loss"]["of"]]))
"""
MODELS = """
import sys, torch, transformers as t
ids = torch.tensor([[7, 3, 9, 3, 20]])
if sys.argv[1] == "gpt2":
    t.GPT2LMHeadModel(t.GPT2Config(vocab_size=61, n_positions=24, n_embd=32, n_layer=2, n_head=4))(ids, labels=ids)
sizes = dict(vocab_size=61, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
t.BertForMaskedLM(t.BertConfig(**sizes))(ids, attention_mask=torch.ones_like(ids))
"""


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind", "loss"), [("gpt2", "causal", "labels"), ("bert", "bidirectional", "token")])
def test_models_of_transformers_as_they_are_on_badak(tmp_path, name, kind, loss):
    (tmp_path / "theirs.py").write_text(MODELS)
    (tmp_path / "look.py").write_text(THEIRS)
    environment = {**os.environ, "PYTHONPATH": str(Path(badak.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "look.py", name], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    model, attentions, parts, layers, of = json.loads(done.stdout.splitlines()[-1])
    assert (model["kind"], attentions, layers, of) == (kind, 2, 3, loss)
    assert parts == [[None, "embedding"], [0, "attention"], [0, "feed_forward"], [1, "attention"], [1, "feed_forward"]]


REFUSED = [
    (
        ["no/such/folder", "a"],
        "no/such/folder: no such file or folder",
        'badak look RUN "a text", or badak look train.py',
    ),
    (["gpt", "a", "b"], "one text is looked at; got 2: a b", 'badak look RUN "the whole text in quotes"'),
    (["gpt", "a", "--target", "b"], "--target is the translation that a translator is to give", "leave it out"),
    (["gpt", "a", "--label", "b"], "--label is the right class of a picture or a text", "leave it out"),
    (["text", "a", "--label", "fine"], "--label fine: the model knows bad, good", "--label bad"),
    (["text", " "], "the text is empty", 'badak look RUN "a text"'),
    (["translate", " "], "the sentence is empty", 'badak look RUN "a sentence"'),
    (["classify", "none.png"], "none.png: there is no such picture", "check the path"),
    (["classify", "digit.png", "--label", "x"], "--label x: the model knows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9", "--label 0"),
    (["bert", "Grrr"], "the model has never seen the word 'Grrr'", None),
    (["bert", "Great", "--place", "9"], "look: place 9 of a text of which 3 tokens are shown", "place=2, or most=10"),
    (["train.py", "--label", "1"], "--label is for runs and folders; train.py is a program", "leave it out"),
    (["published"], "published: no text", 'badak look published "a text"'),
]


@pytest.mark.parametrize(("arguments", "cause", "fix"), REFUSED, ids=[" ".join(row[0]) for row in REFUSED])
def test_what_is_refused_says_why_and_what_helps(arguments, cause, fix, place):
    (place / "train.py").write_text(SCRIPT)
    if arguments == ["published"]:
        GPT(badak.models.GPTConfig(vocab_size=9, context=8, d_model=8, heads=2, layers=1)).save_pretrained("published")
    code, _, err = said("look", *arguments)
    lines = err.strip().split("\n")
    assert code == 2 and len(lines) == 2, err
    assert lines[0] == f"error: {cause}" and (fix is None or lines[1] == f"fix: {fix}"), err


def test_help_has_an_example_for_each_task():
    code, out, _ = said("look", "--help")
    assert code == 0 and all(f"a run of badak train {task}" in " ".join(out.split()) for task in TASKS)
