"""What badak quantize reports is what the weights and the logits are, and the file that it writes answers as the model did."""

import math
import re

import numpy as np
import pytest
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

import badak
from badak import models
from badak.cli import main
from badak.data.tokenizer import Tokenizer
from badak.generation.folder import open_folder, open_gguf
from badak.training.quantizing import quantized

TEXT = "to be or not to be, that is the question\n" * 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    badak.manual_seed(0)
    place = tmp_path_factory.mktemp("model") / "llama"
    tokenizer = Tokenizer.train_bpe([TEXT] * 3, 300)
    sizes = {"vocab_size": len(tokenizer), "context": 64, "d_model": 64, "heads": 4, "num_key_value_heads": 2, "layers": 1}
    model = models.Llama(models.LlamaConfig(**sizes, feedforward=96))
    with badak.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.1)
    model.save_pretrained(place, tokenizer=tokenizer)
    (place / "text.txt").write_text(TEXT)
    return place


@pytest.mark.parametrize("form", ["q4_0", "q8_0", "int8", "bfloat16"])
def test_the_report_is_what_the_model_is(folder, form):
    writer = open_folder(folder)
    model, report = quantized(writer, form, TEXT)
    for one in report.layers:
        w = writer.model.get_submodule(one.name).weight.detach().numpy()
        assert one.shape == w.shape and one.before == w.nbytes and one.after < w.nbytes * 0.52
        if form[0] == "q":
            kind = GGMLQuantizationType[form.upper()]
            expected = dequantize(quantize(w, kind), kind)
            assert one.error == pytest.approx(np.linalg.norm(w - expected) / np.linalg.norm(w), rel=1e-5)
            assert one.after == quantize(w, kind).nbytes
        assert 0 < one.error < 0.1
    ids = writer.vocabulary.encode(TEXT)
    losses, count, cosines = np.zeros(2), 0, []
    with badak.no_grad():
        for at in range(0, len(ids) - 1, 64):
            own = badak.tensor(ids[None, at : at + 64])
            both = [one(own)[0].double().numpy() for one in (writer.model, model)]
            for which, logits in enumerate(both):
                chances = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
                losses[which] -= chances[np.arange(len(logits) - 1), own.numpy()[0, 1:]].sum()
            count += own.shape[1] - 1
            a, b = both
            cosines.append((a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1))
    found = report.text
    assert found.tokens == count
    np.testing.assert_allclose([found.before.perplexity, found.after.perplexity], np.exp(losses / count), rtol=1e-5)
    np.testing.assert_allclose(found.cosines, np.concatenate(cosines), atol=1e-5)
    assert report.after < report.before and math.isfinite(found.after.loss)


def said(capsys, *arguments):
    code = main(["quantize", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_reports_and_writes(folder, tmp_path, capsys):
    out = tmp_path / "m.gguf"
    code, text, _ = said(capsys, folder, out, "--data", folder / "text.txt", "--to", "q8_0")
    assert code == 0 and "blocks.0.attention.qkv" in text and "perplexity" in text and f"{out}: written" in text
    model, _ = quantized(open_folder(folder), "q8_0")
    writer = open_gguf(out)
    ids = badak.tensor(writer.vocabulary.encode("to be or not"))[None]
    with badak.no_grad():
        assert badak.equal(writer.model(ids), model(ids))
    assert main(["generate", str(out), "to be", "--max-new-tokens", "3"]) == 0
    assert capsys.readouterr().out.startswith("to be")


def test_what_it_refuses(folder, tmp_path, capsys):
    taken = tmp_path / "taken.gguf"
    taken.write_text("mine")
    for arguments, why in (
        ((folder, tmp_path / "m.bin"), "the file must end in .gguf"),
        ((folder, taken), "taken.gguf"),
        ((tmp_path / "none",), "none"),
        ((folder, tmp_path / "m.gguf", "--to", "int8"), "GGUF: token is int8|is int8 with a scale"),
        ((folder, "--to", "q5"), "q5"),
        ((folder, "--data", tmp_path / "none.txt"), "no such file"),
        ((taken,), "taken.gguf"),
    ):
        code, out, err = said(capsys, *arguments)
        first, second = err.splitlines()

        assert code == 2 and first.startswith("error: ") and second.startswith("fix: ") and re.search(why, first), (arguments, err)
    assert taken.read_text() == "mine" and not (tmp_path / "m.gguf").exists()
    assert main(["generate", str(taken), "x"]) == 2
    empty = tmp_path / "short.txt"
    empty.write_text("a")
    code, _, err = said(capsys, folder, "--data", empty)
    assert code == 2 and "the text has" in err
