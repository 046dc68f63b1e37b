"""`badak export`: what a run becomes, read back by transformers and by badak; wholly or not at all."""

import json
import os

import numpy as np
import onnxruntime
import pytest
import torch

import badak
from badak import models
from badak.cli import main
from badak.core.errors import ArgumentError, FileError
from badak.data.tokenizer import Tokenizer
from badak.generation.folder import open_folder
from badak.training.export import export, export_onnx
from badak.training.load import load_fill_mask, load_generator
from tests.generation.exported import FAMILIES, RUNS, compare_writing, judge, make_family, theirs_of

pytestmark = pytest.mark.slow  # the import of transformers takes two seconds

FEW = ["--steps", "2", "--context", "16", "--d-model", "8", "--heads", "2", "--layers", "1"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run of badak train gpt, over words."""
    place = tmp_path_factory.mktemp("runs") / "words"
    assert main(["train", "gpt", "--preset", "sentences", *FEW, "--context", "32", "--run", str(place)]) == 0
    return place


def table(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


@pytest.mark.slow
def test_an_exported_run_writes_the_same_texts(run, tmp_path):
    export(run, tmp_path / "out")
    assert compare_writing(run, tmp_path / "out", ["The quick brown", "Knowledge is"], tokens=5) == []
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_each_kind_of_run_says_the_same_through_transformers_and_badak(name, tmp_path):
    assert judge(name, tmp_path) == []


@pytest.mark.thin(2)
@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_a_folder_that_was_read_and_written_has_lost_nothing(kind, tmp_path):
    folder = make_family(kind, tmp_path / "theirs")
    models.from_pretrained(folder).save_pretrained(tmp_path / "ours")
    assert compare_writing(folder, tmp_path / "ours", ["The floor is", "바닥"], tokens=20) == []
    assert table(tmp_path / "ours", "generation_config.json") == table(folder, "generation_config.json")
    before, after = (table(place, "config.json") for place in (folder, tmp_path / "ours"))
    other = {name for name, value in before.items() if after.get(name, "none") != value}
    assert other <= {"transformers_version", "n_inner", "max_window_layers"}  # null is 4 times the width; no layer has a window
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        assert (tmp_path / "ours" / name).read_bytes() == (folder / name).read_bytes()
    ours, again = open_folder(folder), open_folder(tmp_path / "ours")
    assert ours.ends == again.ends == (2, 17) and ours.config == again.config and again.vocabulary.prompt_marks
    assert (ours.config.temperature, ours.config.top_k, ours.config.top_p, ours.config.max_new_tokens) == (0.7, 11, 0.9, 9)


@pytest.mark.slow
def test_all_ids_are_said_so_that_transformers_takes_none_of_its_own(run, tmp_path):
    export(run, tmp_path / "out")
    said, writing = table(tmp_path / "out", "config.json"), table(tmp_path / "out", "generation_config.json")
    assert [said[f"{name}_token_id"] for name in ("pad", "bos", "eos", "unk", "mask")] == [0, 1, 2, 3, 4]
    assert (writing["eos_token_id"], writing["pad_token_id"], writing["suppress_tokens"]) == (2, 0, [0, 1, 3, 4])
    about = table(tmp_path / "out", "tokenizer_config.json")
    assert [about[f"{name}_token"] for name in ("pad", "eos", "unk", "mask")] == ["<pad>", "<eos>", "<unk>", "[MASK]"]
    assert about["model_max_length"] == 32
    for kind, config in ((models.GPT, models.GPTConfig(d_model=8, heads=2, layers=1)),
                         (models.Llama, models.LlamaConfig(d_model=8, layers=1))):  # fmt: skip
        kind(config).save_pretrained(tmp_path / kind.__name__)
        model, _ = theirs_of_model(tmp_path / kind.__name__)
        assert model.config.eos_token_id is model.config.bos_token_id is model.generation_config.eos_token_id is None


def theirs_of_model(folder):
    import transformers

    return transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)


def test_an_id_beyond_the_vocabulary_is_none(tmp_path):
    models.GPT(models.GPTConfig(d_model=8, heads=2, layers=1)).save_pretrained(tmp_path / "a")
    path = tmp_path / "a" / "config.json"
    ids = {"eos_token_id": [7, 50256], "bos_token_id": 50256, "pad_token_id": -1}
    path.write_text(json.dumps({**json.loads(path.read_text()), **ids}))
    (tmp_path / "a" / "generation_config.json").unlink()
    models.from_pretrained(tmp_path / "a").save_pretrained(tmp_path / "b")
    said, writing = table(tmp_path / "b", "config.json"), table(tmp_path / "b", "generation_config.json")
    assert [said[f"{name}_token_id"] for name in ("eos", "bos", "pad")] == [[7], None, None] and writing["eos_token_id"] == [7]


@pytest.mark.slow
def test_ids_that_config_json_leaves_out_are_those_of_transformers(tmp_path):
    models.Llama(models.LlamaConfig(d_model=8, layers=1)).save_pretrained(tmp_path / "a")
    path = tmp_path / "a" / "config.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps({name: value for name, value in said.items() if "_token_id" not in name}))
    (tmp_path / "a" / "generation_config.json").unlink()
    expected = theirs_of_model(tmp_path / "a")[0].generation_config
    models.from_pretrained(tmp_path / "a").save_pretrained(tmp_path / "b")
    found = theirs_of_model(tmp_path / "b")[0].generation_config
    assert (found.bos_token_id, found.eos_token_id) == (expected.bos_token_id, expected.eos_token_id) == (None, None)
    assert table(tmp_path / "b", "config.json")["eos_token_id"] == 2  # what transformers' config has where nothing is said


def test_old_settings_of_writing_in_config_json_are_kept(tmp_path):
    models.GPT(models.GPTConfig(d_model=8, heads=2, layers=1)).save_pretrained(tmp_path / "a")
    path = tmp_path / "a" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "no_repeat_ngram_size": 3, "num_beams": 4, "summary_type": "mean"}))
    (tmp_path / "a" / "generation_config.json").unlink()
    models.from_pretrained(tmp_path / "a").save_pretrained(tmp_path / "b")
    writing = theirs_of_model(tmp_path / "b")[0].generation_config
    assert (writing.no_repeat_ngram_size, writing.num_beams) == (3, 4)
    assert table(tmp_path / "b", "config.json")["summary_type"] == "mean"


def test_a_tokenizer_can_be_given(tmp_path):
    model = models.GPT(models.GPTConfig(vocab_size=280, d_model=8, heads=2, layers=1))
    tokenizer = Tokenizer.train_bpe(["badak is the floor"] * 3, 270, ("<s>", "</s>"))
    model.save_pretrained(tmp_path / "a", tokenizer=tokenizer)
    assert table(tmp_path / "a", "config.json")["eos_token_id"] == 1
    assert open_folder(tmp_path / "a").ends == (1,)
    assert theirs_of(tmp_path / "a")[1]("badak")["input_ids"] == tokenizer.encode("badak").tolist()
    with pytest.raises(ArgumentError, match="a tokenizer of 2.. tokens, a model of 100\nfix: the"):
        models.GPT(models.GPTConfig(d_model=8, heads=2, layers=1)).save_pretrained(tmp_path / "b", tokenizer=tokenizer)
    assert not (tmp_path / "b").exists()


@pytest.mark.slow
def test_the_card_names_what_the_run_knows_and_no_folder_of_this_machine(tmp_path):
    (tmp_path / "poems.txt").write_text("a rose is a rose\n" * 60)
    where = str(tmp_path / "run")
    assert main(["train", "gpt", "--data", str(tmp_path / "poems.txt"), *FEW, "--run", where]) == 0
    export(where, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "pipeline_tag: text-generation" in card and "poems.txt" in card and "perplexity" in card and "## Licence" in card
    assert "license:" not in card
    for file in (tmp_path / "out").iterdir():
        assert str(tmp_path).encode() not in file.read_bytes()


KINDS = {
    "a folder": lambda path, other: path.mkdir(),
    "a file": lambda path, other: path.write_text("mine"),
    "a link": lambda path, other: path.symlink_to(other),
    "a link that leads nowhere": lambda path, other: path.symlink_to(other / "none"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_there_is_not_written_over_and_no_link_is_followed(kind, run, tmp_path):
    other, out = tmp_path / "other", tmp_path / "out"
    other.mkdir()
    KINDS[kind](out, other)
    with pytest.raises(FileError, match=r"there is a (folder|file|link) already, and nothing is written over it\nfix: choose"):
        export(run, out)
    assert not list(other.iterdir()) and {one.name for one in tmp_path.iterdir()} == {"other", "out"}


@pytest.mark.slow
def test_a_link_where_the_folder_is_prepared_is_not_followed(run, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / f".out.{os.getpid()}.partial").symlink_to(other)
    with pytest.raises(FileError, match="cannot be made"):
        export(run, tmp_path / "out")
    assert not list(other.iterdir()) and not (tmp_path / "out").exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", range(4))
@pytest.mark.slow
def test_a_failure_leaves_nothing(error, at, run, tmp_path, monkeypatch):
    replace, count = os.replace, iter(range(100))

    def fail(*names):
        if next(count) == 2 * at:
            raise error
        replace(*names)

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises((FileError, KeyboardInterrupt)):
        export(run, tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_somebody_who_was_faster_keeps_his_folder(run, tmp_path, monkeypatch):
    out = tmp_path / "out"
    saved = models.GPT.save_pretrained

    def late(self, *args, **more):
        saved(self, *args, **more)
        out.mkdir()
        (out / "his").write_text("own")

    monkeypatch.setattr(models.GPT, "save_pretrained", late)
    with pytest.raises(FileError, match="there is a folder already"):
        export(run, out)
    assert [one.name for one in tmp_path.iterdir()] == ["out"] and (out / "his").read_text() == "own"


def test_save_pretrained_keeps_a_card_that_is_there_and_replaces_links(tmp_path):
    model, out, thesis = models.GPT(models.GPTConfig(d_model=8, heads=2, layers=1)), tmp_path / "out", tmp_path / "thesis"
    out.mkdir()
    thesis.write_text("mine")
    (out / "README.md").symlink_to(thesis)
    (out / "config.json").symlink_to(thesis)
    model.save_pretrained(out)
    assert thesis.read_text() == "mine" and (out / "README.md").is_symlink() and not (out / "config.json").is_symlink()
    assert models.from_pretrained(out).config == model.config


def test_no_folder_behind_a_link_is_written_to(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "out" / "1_Pooling").symlink_to(tmp_path / "other")
    with pytest.raises(FileError, match="1_Pooling: is a link to another folder, and nothing is written through it\nfix: "):
        models.SentenceEncoder(models.SentenceConfig(d_model=8, heads=2, layers=1)).save_pretrained(tmp_path / "out")
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_the_weights_can_be_narrow(dtype, run, tmp_path):
    assert main(["export", str(run), str(tmp_path / "out"), "--dtype", dtype]) == 0
    model = theirs_of_model(tmp_path / "out")[0]
    assert model.dtype is getattr(torch, dtype) and table(tmp_path / "out", "config.json")["dtype"] == dtype


def test_the_command_says_what_it_made_and_what_it_cannot(run, tmp_path, capsys):
    capsys.readouterr()
    assert main(["export", str(run), str(tmp_path / "out")]) == 0
    assert "GPT2LMHeadModel" in capsys.readouterr().out
    assert main(["export", str(run), str(tmp_path / "out")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
    assert main(["export", str(tmp_path / "out"), str(tmp_path / "again")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2 and not (tmp_path / "again").exists()


@pytest.mark.slow
def test_a_run_that_no_family_has_is_refused_in_two_lines(tmp_path):
    model = badak.nn.Linear(2, 2)
    data = [(badak.randn(4, 2), badak.zeros(4, dtype=badak.int64))] * 2
    badak.training.fit(model, data, badak.nn.functional.cross_entropy, epochs=1, folder=tmp_path / "own", log=None)
    with pytest.raises(ArgumentError, match="the program's own, and no family .*\nfix: model.save_pretrained"):
        export(tmp_path / "own", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("more, text", [(["--pooling", "mean"], "pooling='mean'"), (["--no-pooler"], "pooler=False")])
def test_a_classifier_that_no_family_has_is_refused_in_two_lines(more, text, tmp_path):
    assert main(["train", "text", "--epochs", "1", *more, "--run", str(tmp_path / "run")]) == 0
    with pytest.raises(ArgumentError, match=f"no folder of BertForSequenceClassification can say .*{text}.*\nfix: "):
        export(tmp_path / "run", tmp_path / "out")
    assert {one.name for one in tmp_path.iterdir()} == {"run"}


@pytest.mark.slow
def test_labels_are_kept_by_reading_and_writing(tmp_path):
    assert main(["train", "text", "--epochs", "1", "--run", str(tmp_path / "run")]) == 0
    export(tmp_path / "run", tmp_path / "out")
    models.from_pretrained(tmp_path / "out").save_pretrained(tmp_path / "again")
    labels = load_fill_mask(tmp_path / "run").labels
    assert len(labels) > 1 and load_fill_mask(tmp_path / "again").labels == labels
    said = table(tmp_path / "again", "config.json")
    assert said["label2id"] == {name: number for number, name in enumerate(labels)}


@pytest.mark.slow
def test_what_a_folder_says_of_writing_is_the_default_and_options_come_first(run, tmp_path, capsys):
    export(run, tmp_path / "out")
    assert load_generator(tmp_path / "out").config == load_generator(run).config
    path = tmp_path / "out" / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "do_sample": False, "max_new_tokens": 3}))
    capsys.readouterr()
    assert main(["generate", str(tmp_path / "out"), "The quick"]) == 0
    greedy = capsys.readouterr().out
    assert main(["generate", str(run), "The quick", "--temperature", "0", "--max-new-tokens", "3"]) == 0
    assert capsys.readouterr().out == greedy
    assert main(["generate", str(tmp_path / "out"), "The quick", "--max-new-tokens", "1"]) == 0
    assert len(capsys.readouterr().out.split()) <= 3 < len(greedy.split()) + 2
    path.write_text('{"temperature": "hot", "do_sample": true}')
    assert main(["generate", str(tmp_path / "out"), "The quick"]) == 2
    assert "generation_config.json: " in capsys.readouterr().err


def test_a_word_that_was_never_seen_is_refused_as_by_the_run(run, tmp_path, capsys):
    export(run, tmp_path / "out")
    said = []
    for folder in (run, tmp_path / "out"):
        capsys.readouterr()
        assert main(["generate", str(folder), "the Quick nonsense"]) == 2
        said.append(capsys.readouterr().err)
    assert said[0] == said[1] and "has never seen the word" in said[0]


@pytest.mark.slow
def test_an_onnx_file_of_a_run_gives_its_logits_at_any_length(run, tmp_path, capsys):
    assert main(["export", str(run), str(tmp_path / "out.onnx")]) == 0
    assert "inputs input_ids, output logits" in capsys.readouterr().out
    model = load_generator(run).model
    session = onnxruntime.InferenceSession(str(tmp_path / "out.onnx"), providers=["CPUExecutionProvider"])
    for shape in ((1, 1), (3, 32)):
        ids = np.random.default_rng(0).integers(0, model.config.vocab_size, shape)
        with badak.no_grad():
            expected = model(badak.tensor(ids)).numpy()
        np.testing.assert_allclose(session.run(None, {"input_ids": ids})[0], expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(FileError, match="exists|already"):
        export_onnx(run, tmp_path / "out.onnx")
    assert main(["export", str(run), str(tmp_path / "other.onnx"), "--dtype", "float16"]) != 0
    assert "is for folders" in capsys.readouterr().err
