"""A server in this process, with a small model of each kind, on a port that was free."""

import threading
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import httpx
import pytest

import badak
from badak import models
from badak.cli.serving.app import Service
from badak.cli.serving.limits import Limits
from badak.cli.serving.models import open_all
from badak.cli.serving.server import listen, server_of
from badak.data.tokenizer import Tokenizer

SENTENCES = ["to be or not to be that is the question", "ein hund rennt durch das hohe gras", "바닥부터 하나씩 쌓아 올린다"] * 20
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"


def random_weights(model, std=0.3):
    badak.manual_seed(1)
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.add_(std * badak.randn_like(parameter))
    return model.eval()


def write_models(place):
    """A folder for each of: writer, encoder, judge, translator, filler."""
    bpe = Tokenizer.train_bpe(SENTENCES, 400, ["<|end|>"])
    llama = models.LlamaConfig(
        vocab_size=len(bpe), context=256, d_model=32, heads=4, num_key_value_heads=2, feedforward=64, layers=2
    )
    random_weights(models.Llama(llama)).save_pretrained(place / "writer", tokenizer=bpe)
    (place / "writer" / "chat_template.jinja").write_text(TEMPLATE)
    pieces = Tokenizer.train_wordpiece(SENTENCES, 120)
    sizes = {"vocab_size": len(pieces), "context": 32, "d_model": 16, "heads": 2, "layers": 2, "pad_id": pieces.pad}
    random_weights(models.SentenceEncoder(models.SentenceConfig(**sizes))).save_pretrained(place / "encoder", tokenizer=pieces)
    text = models.TextConfig(**sizes, classes=2, pooling="cls", pooler=True)
    random_weights(models.BERTClassifier(text)).save_pretrained(place / "judge", tokenizer=pieces)
    random_weights(models.BERT(models.BERTConfig(**sizes))).save_pretrained(place / "filler", tokenizer=pieces)
    marked = Tokenizer.train_bpe(SENTENCES, 300, ["<pad>", "<s>", "</s>"])
    ids = {"pad_id": marked.ids["<pad>"], "sos_id": marked.ids["<s>"], "eos_id": marked.ids["</s>"]}
    seq2seq = models.Seq2SeqConfig(vocab_size=len(marked), context=32, d_model=16, heads=2, encoder_layers=1, decoder_layers=1, feedforward=32, **ids)  # fmt: skip
    random_weights(models.Seq2Seq(seq2seq)).save_pretrained(place / "translator", tokenizer=marked)
    return {name: str(place / name) for name in ("writer", "encoder", "judge", "translator", "filler")}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    return write_models(tmp_path_factory.mktemp("models"))


@contextmanager
def served(paths, key=None, host="127.0.0.1", log=False, **limits):
    """A server of some folders: its url, its service, and a client."""
    limits = Limits(**limits)
    service = Service(open_all(paths, "float32", limits), limits, log)
    at = listen("127.0.0.1", 0)
    server = server_of(service, key, host)
    thread = threading.Thread(target=server.run, args=([at],))
    url = f"http://127.0.0.1:{at.getsockname()[1]}"
    thread.start()
    with httpx.Client(base_url=url, timeout=60) as client:
        yield SimpleNamespace(url=url, service=service, models=service.models, client=client, port=at.getsockname()[1])
    server.should_exit = True
    thread.join(30)
    service.close()
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def serving(folders):
    """serving(names, limits...) starts a server of some of the models, see `served`."""
    with ExitStack() as running:
        yield lambda *names, **more: running.enter_context(served([folders[name] for name in names], **more))


@pytest.fixture(scope="session")
def server(serving):
    """One of all models, for tests that change nothing."""
    return serving("writer", "encoder", "judge", "translator", "filler")
