"""Names of the Hub in the place of folders: found in a local cache of huggingface_hub, and what is said where they are not."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from badak.cli import main
from badak.data.marian import MarianTokens
from badak.data.tokenizer import Tokenizer
from badak.io.sealed import seal, unseal
from badak.models.pretrained import is_hub_name
from badak.training.run import settings_hash

pytestmark = pytest.mark.slow  # the import of transformers takes two seconds

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
TEXTS = ["the cat sat on the mat", "a dog runs through the snow", "우리는 바닥부터 시작한다"]
SHA = "0123456789abcdef0123456789abcdef01234567"


def tiny(kind, tokens):
    """A model of transformers with weights that matter."""
    torch.manual_seed(0)
    t = transformers
    bert = t.BertConfig(vocab_size=tokens, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2)
    bert.id2label, bert.label2id = {0: "bad", 1: "good", 2: "neither"}, {"bad": 0, "good": 1, "neither": 2}
    model = {
        "gpt2": lambda: t.GPT2LMHeadModel(t.GPT2Config(vocab_size=tokens, n_positions=32, n_embd=16, n_layer=1, n_head=2,
                                                       bos_token_id=0, eos_token_id=0)),
        "classes": lambda: t.BertForSequenceClassification(bert),
        "encoder": lambda: t.BertModel(bert),
    }[kind]()  # fmt: skip
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)
    return model.eval()


def publish(cache, name, kind, shape="model.safetensors"):
    """Put a model where huggingface_hub keeps what it has fetched of `name`."""
    place = cache / f"models--{name.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs/main").write_text(SHA)
    folder = place / "snapshots" / SHA
    tokenizer = Tokenizer.train_bpe(TEXTS, 280) if kind == "gpt2" else Tokenizer.train_wordpiece(TEXTS * 3, 80)
    model = tiny(kind, len(tokenizer))
    model.save_pretrained(folder)
    tokenizer.save(folder)
    if shape == "pytorch_model.bin":
        (folder / "model.safetensors").unlink()
        torch.save(model.state_dict(), folder / shape)
    return folder, model, tokenizer


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the Hub, without a network."""
    hub = pytest.importorskip("huggingface_hub", reason="transformers brings it")
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "hub"


@pytest.mark.slow
@pytest.mark.parametrize("name, shape", [("acme/tiny", "model.safetensors"), ("tiny", "pytorch_model.bin")])
def test_generate_and_chat_take_a_name(name, shape, cache, capsys, monkeypatch):
    folder, model, tokenizer = publish(cache, name, "gpt2", shape)
    asked = ["--max-new-tokens", "5", "--temperature", "0", "--top-k", "0"]
    assert main(["generate", name, "the cat", *asked]) == 0
    of_name = capsys.readouterr().out
    shutil.copytree(folder, "copy")
    assert main(["generate", "copy", "the cat", *asked]) == 0
    assert of_name == capsys.readouterr().out and len(of_name) > len("the cat\n")
    ids = torch.tensor(tokenizer.encode("the cat"))[None]
    theirs = model.generate(ids, max_new_tokens=5, do_sample=False, pad_token_id=0)[0].tolist()
    end = theirs.index(0) if 0 in theirs else len(theirs)
    assert of_name == tokenizer.decode(theirs[:end]) + "\n"
    lines = iter(["a dog", "/quit"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    assert main(["chat", name, *asked]) == 0


@pytest.mark.slow
def test_predict_takes_a_name(cache, capsys):
    _, model, tokenizer = publish(cache, "acme/films", "classes")
    assert main(["predict", "acme/films", "the cat sat"]) == 0
    said = capsys.readouterr().out
    with torch.no_grad():
        chances = model(torch.tensor(tokenizer.encode("the cat sat", marks=True))[None]).logits.softmax(-1)[0]
    best = int(chances.argmax())
    assert said.startswith(f"the cat sat: {['bad', 'good', 'neither'][best]}\n")
    assert f"{float(chances[best]):7.2%}" in said and "the words that mattered" in said


@pytest.mark.slow
def test_embed_takes_a_name(cache, capsys):
    _, model, tokenizer = publish(cache, "acme/sentences", "encoder")
    assert main(["embed", "acme/sentences", "the cat", "a dog runs", "-o", "out.npy"]) == 0
    made = np.load("out.npy")
    with torch.no_grad():
        theirs = model(torch.tensor(tokenizer.encode("the cat", marks=True))[None]).last_hidden_state[0].mean(0)
    assert np.allclose(made[0], (theirs / theirs.norm()).numpy(), atol=1e-5)


@pytest.mark.parametrize("command", ["generate", "chat", "predict", "embed", "translate"])
@pytest.mark.parametrize("installed", [True, False])
def test_a_name_that_cannot_be_fetched_says_what_to_put_where(command, installed, cache, capsys, monkeypatch):
    if not installed:
        monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    assert main([command, "acme/none", *(["x"] if command != "chat" else [])]) == 2
    cause, fix = capsys.readouterr().err.splitlines()
    put = "put its config.json, model.safetensors and tokenizer.json into a folder acme/none"
    if installed:
        assert cause.startswith("error: acme/none: there is no such folder, and the Hub does not give it (")
        assert fix == f"fix: look at the name and the network, or {put}"
    else:
        assert cause == "error: acme/none: there is no such folder, and huggingface_hub, which could fetch it, is not installed"
        assert fix == f"fix: pip install huggingface_hub, or {put}"


def test_what_is_a_path_here_is_no_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    assert not is_hub_name("runs") and not is_hub_name("runs/gpt") and not is_hub_name("a/b/c") and not is_hub_name("../x y")
    assert is_hub_name("gpt2") and is_hub_name("acme/tiny")


def test_a_run_that_is_not_there_is_not_looked_for_on_the_hub(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    assert main(["generate", "runs/gpt", "x"]) == 2
    assert "runs/gpt: not a run folder, it has no config.json" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("sha256, lora", [("", 0), ("0" * 64, 4), ("", 4)])
def test_a_run_of_somebody_else_fetches_nothing(sha256, lora, cache, capsys, monkeypatch):
    """Its config.json may name anything on the Hub, of any size; who wants that fetches it."""
    asked = []
    hub = __import__("huggingface_hub")
    fetch = hub.snapshot_download
    monkeypatch.setattr(hub, "snapshot_download", lambda name, **how: asked.append(how["local_files_only"]) or fetch(name, **how))
    publish(cache, "acme/tiny", "gpt2")
    sizes = ["--d-model", "8", "--heads", "1", "--layers", "1", "--steps", "1"]
    assert main(["train", "gpt", "--preset", "sentences", *sizes, "--run", "r"]) == 0
    table = unseal(Path("r/config.json"), "")
    table["start"] |= {"folder": "acme/huge", "sha256": sha256, "lora": lora}
    Path("r/config.json").write_bytes(seal(table))
    state = unseal(Path("r/state.json"), "")
    state["state"]["origin"]["settings"] = settings_hash(table)
    Path("r/state.json").write_bytes(seal(state))
    capsys.readouterr()
    for line in (["generate", "r", "x"], ["train", "gpt", "--resume", "r", "--steps", "2"]):
        if line[0] == "train" or lora:
            assert main(line) == 2
            said = capsys.readouterr().err.splitlines()
            assert said[-1] == "fix: badak generate acme/huge fetches them" and "a run fetches nothing" in said[-2]
    assert asked and all(asked)


@pytest.mark.slow
def test_labels_that_do_not_name_the_classes_are_refused(cache, capsys):
    folder, _, _ = publish(cache, "acme/films", "classes")
    said = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**said, "id2label": {"0": "a", "2": "b", "3": "c"}}))
    assert main(["predict", "acme/films", "x"]) == 2
    assert "config.json: id2label does not name the classes 0 to 2\nfix: restore" in capsys.readouterr().err


def marian(cache, name):
    """A folder as Marian's are: two models of SentencePiece, one table, weights; and transformers' own model of it."""
    sentencepiece = pytest.importorskip("sentencepiece", reason="an extra: badak[translate]")
    folder = cache / f"models--{name.replace('/', '--')}/snapshots/{SHA}"
    folder.mkdir(parents=True)
    (folder / "../../refs").mkdir()
    (folder / "../../refs/main").write_text(SHA)
    pieces = {}
    for side, texts in (("source", ["ein Hund rennt durch den Schnee", "die Katze sitzt auf der Matte"]), ("target", TEXTS[:2])):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts * 3), model_prefix=str(folder / side), vocab_size=40, hard_vocab_limit=False,
            minloglevel=2,
        )  # fmt: skip
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        read = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        pieces |= dict.fromkeys(read.id_to_piece(i) for i in range(read.get_piece_size()))
    names = ["</s>", "<unk>", *(one for one in pieces if not one.startswith("<")), ">>en<<", "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    last = len(names) - 1
    torch.manual_seed(0)
    config = transformers.MarianConfig(
        vocab_size=len(names), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=64, scale_embedding=True, pad_token_id=last, eos_token_id=0,
        decoder_start_token_id=last, bos_token_id=None, forced_eos_token_id=0,
    )  # fmt: skip
    model = transformers.MarianMTModel(config).eval()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.mul_(1 if "embed_positions" in key else 6)  # sines are no weights
    model.save_pretrained(folder)
    return folder, model


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
@pytest.mark.filterwarnings("ignore:builtin type .* has no __module__ attribute:DeprecationWarning")
def test_translate_takes_a_name_of_marians(cache, capsys):
    folder, model = marian(cache, "acme/opus-mt-de-en")
    sentences = ["ein Hund sitzt", "die Katze rennt durch den Schnee", ">>en<< ein Ö"]
    theirs = transformers.MarianTokenizer.from_pretrained(folder)
    tokens = MarianTokens.load(folder)
    for one, ids in zip(sentences, tokens.encode_all(sentences)):
        assert [*ids.tolist(), 0] == theirs(one)["input_ids"]
        assert tokens.decode(ids, skip_special=True) == theirs.decode(ids.tolist(), skip_special_tokens=True)
    assert main(["translate", "acme/opus-mt-de-en", *sentences[:2], "--num-beams", "1"]) == 0
    for line, one in zip(capsys.readouterr().out.splitlines(), sentences):
        ids = torch.tensor([theirs(one)["input_ids"]])
        made = model.generate(ids, num_beams=1, max_new_tokens=2 * ids.shape[1] + 10, bad_words_ids=[[tokens.ids["<pad>"]]])
        assert line == theirs.decode(made[0], skip_special_tokens=True).strip()


@pytest.mark.slow
@pytest.mark.parametrize("spoil, says", [
    (lambda place: (place / "source.spm").unlink(), "source.spm: is missing"),
    (lambda place: (place / "target.spm").write_bytes(b"no model"), "target.spm: no model that sentencepiece reads"),
    (lambda place: (place / "vocab.json").write_text('{"</s>": 0}'), "vocab.json: has no <unk>"),
    (lambda place: (place / "vocab.json").write_text('{"</s>": 0, "<unk>": 1, "<pad>": 5000}'), "5001 tokens in vocab.json"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:builtin type .* has no __module__ attribute:DeprecationWarning")
def test_a_damaged_folder_of_marian_is_refused(spoil, says, cache, capsys):
    spoil(marian(cache, "acme/opus")[0])
    assert main(["translate", "acme/opus", "ein Hund"]) == 2
    said = capsys.readouterr().err
    assert says in said and len(said.splitlines()) == 2
