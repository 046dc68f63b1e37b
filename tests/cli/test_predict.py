"""badak predict: tables and JSON in, JSON out, the same answers in each; and time that does not grow with what is not read."""

import json
import math

import pytest

import badak
from badak import kernels
from badak.cli import main
from badak.data.tokenizer import BERT_MARKS, Tokenizer
from badak.generation import framing
from badak.generation.classify import TextClassifier
from badak.generation.framing import encoded, framed, segments_of, shares
from badak.models.bert import BERTClassifier, TextConfig
from badak.training.build import start
from badak.training.loop import train
from badak.training.presets import PRESETS, change

TEXTS = ["영화가 너무나 지루해요", 'a "quoted", text', "노래가 좋다"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run over classes and one over numbers, of a step each."""
    place = tmp_path_factory.mktemp("runs")
    with kernels.use("reference"):
        for task in ("classification", "regression"):
            setup = change(change(PRESETS["text"]["opinions"], "model", {"d_model": 16}), "train", {"steps": 1})
            run, experiment = start(place / task, change(setup, "data", {"task": task}))
            train(experiment, run.setup.train, run)
    return place


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with kernels.use("reference"):
        yield


def said(capsys, *words, code=0):
    capsys.readouterr()
    assert main([str(word) for word in words]) == code
    out, err = capsys.readouterr()
    return err if code else out


@pytest.mark.slow
def test_every_file_in_gives_the_same_objects_out(runs, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS))
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps({"n": 3, "text": text}) for text in TEXTS))
    (tmp_path / "a.csv").write_text("n,text\n" + "\n".join('3,"' + text.replace('"', '""') + '"' for text in TEXTS))
    found = {}
    for name in ("a.txt", "a.jsonl", "a.csv"):
        lines = said(capsys, "predict", runs / "classification", "--file", name, "--json", "--words", 2).splitlines()
        found[name] = [json.loads(line) for line in lines]
        assert [one.pop("line") for one in found[name]] == [at + (name == "a.csv") for at in (1, 2, 3)]
    assert found["a.txt"] == found["a.jsonl"] == found["a.csv"]
    for one, text in zip(found["a.txt"], TEXTS, strict=True):
        assert one["text"] == text and one["cut"] == 0 and len(one["words"]) == 2
        chances = one["probabilities"]
        assert one["label"] == max(chances, key=chances.get) and set(chances) == {"good", "bad"}
        assert one["probability"] == one["probabilities"][one["label"]]
        assert math.isclose(sum(one["probabilities"].values()), 1, rel_tol=1e-5)
    plain = said(capsys, "predict", runs / "classification", "--file", "a.csv", "--words", 2).splitlines()
    assert [line.split("\t")[:2] for line in plain] == [[one["label"], f"{one['probability']:.4f}"] for one in found["a.txt"]]


@pytest.mark.slow
def test_objects_are_written_to_a_file(runs, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS) + "\n\n")
    words = ["predict", runs / "regression", "--file", "a.txt", "--words", 0]
    assert said(capsys, *words, "-o", "out.jsonl") == ""
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    said(capsys, *words, "--out", "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == lines
    assert [set(one) for one in lines] == [{"line", "text", "value", "cut"}] * 3
    assert json.loads(said(capsys, "predict", runs / "regression", TEXTS[0], "--json", "--words", 0)) == lines[0]
    err = said(capsys, *words, "-o", "out.csv", code=2)
    assert "out.csv: written is JSON, by the end of the name" in err and "a name that ends with .json, .jsonl" in err
    before = (tmp_path / "out.json").read_bytes()
    (tmp_path / "b.txt").write_text("a\n\x00\ufffe")
    assert said(capsys, "predict", runs / "regression", "--file", "none.txt", "-o", "out.json", code=2)
    assert (tmp_path / "out.json").read_bytes() == before


def test_what_goes_in_wrong_is_named_with_its_line(runs, tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": 3}\n')
    err = said(capsys, "predict", runs / "classification", "--file", "a.jsonl", code=2)
    assert "a.jsonl: line 2: 'text' is 3, no text" in err and err.count("\n") == 2
    err = said(capsys, "predict", runs / "classification", "--pair-column", "b", code=2)
    assert err.count("\n") == 2
    err = said(capsys, "predict", runs / "classification", "a", "--pair", "b", code=2)
    assert "text 1 is a pair; the model was trained on single texts" in err


# ---------------------------------------------------------------------- long texts


@pytest.fixture(scope="module", params=["wordpiece", "bpe"])
def tokenizer(request):
    texts = ["one two three four five six seven eight nine ten supercalifragilistic"] * 5
    return Tokenizer.train_bpe(texts, 290, special=BERT_MARKS) if request.param == "bpe" else Tokenizer.train_wordpiece(texts, 90)


def judge_of(tokenizer, context, type_vocab_size=2):
    badak.manual_seed(0)
    config = TextConfig(vocab_size=len(tokenizer), context=context, d_model=16, heads=2, layers=1, pad_id=tokenizer.pad, classes=3,
                        type_vocab_size=type_vocab_size)  # fmt: skip
    model = BERTClassifier(config)
    for p in model.parameters():
        p.data.mul_(4)
    return TextClassifier(model, tokenizer, "abc")


def by_hand(judge, text, at):
    """The answer to a text without one of its words."""
    words = text.split()
    return judge.answers([" ".join(words[:at] + words[at + 1 :])])[0][0]


WORDS = "one two three four supercalifragilistic five six seven ten".split()


@pytest.mark.parametrize("context", [3, 8, 20])
def test_the_words_of_a_long_text_have_the_answers_that_the_whole_text_gives(tokenizer, context):
    judge = judge_of(tokenizer, context)
    text = " ".join(WORDS[at * at % len(WORDS)] for at in range(300))
    (verdict,) = judge.judge([text])
    best = "abc".index(verdict.label)
    assert verdict.cut > 100 and 1 <= len(verdict.words) <= context
    for word in verdict.words:
        assert word.text == text.split()[word.at]
        assert word.without == pytest.approx(by_hand(judge, text, word.at)[best], abs=1e-6)
    unread = max(word.at for word in verdict.words) + 1  # and no word behind them changes anything
    assert by_hand(judge, text, unread)[best] == pytest.approx(verdict.value, abs=1e-6)


def test_the_words_of_a_long_pair_too(tokenizer):
    judge = judge_of(tokenizer, 24)
    first, second = " ".join(WORDS * 9), " ".join(WORDS[::-1] * 9)
    (verdict,) = judge.judge([(first, second)])
    best, words = "abc".index(verdict.label), first.split()
    assert {word.at >= len(words) for word in verdict.words} == {False, True}
    for word in verdict.words:
        which, at = divmod(word.at, len(words))
        pair = [first.split(), second.split()]
        assert pair[which].pop(at) == word.text
        assert word.without == pytest.approx(judge.answers([tuple(map(" ".join, pair))])[0][0][best], abs=1e-6)


@pytest.mark.slow
def test_the_work_does_not_grow_with_what_is_not_read(tokenizer):
    """Counted, not timed: how many tokens go through the model, and how many characters are cut into tokens."""
    judge, counts = judge_of(tokenizer, 16), []
    run, cut = judge.model.forward, tokenizer.library

    class Counting:
        def __getattr__(self, name):
            def counted(texts, **more):
                counts[-1][1] += sum(map(len, [texts] if isinstance(texts, str) else texts))
                return getattr(cut, name)(texts, **more)

            return counted if name.startswith("encode") else getattr(cut, name)

    def forward(ids, *more):
        counts[-1][0] += ids.numel()
        return run(ids, *more)

    judge.model.forward, tokenizer.library = forward, Counting()
    try:
        for length in (100, 1_000, 2_000):
            counts.append([0, 0])
            list(judge.judge([" ".join(WORDS * length)]))
    finally:
        tokenizer.library = cut
    assert counts[0][0] == counts[1][0] == counts[2][0]
    assert counts[2][1] - counts[1][1] == pytest.approx(len(" ".join(WORDS)) * 1_000, rel=0.02)


@pytest.mark.parametrize("together, long", [(1_000_000, 100_000), (500, 300), (60, 40)])
def test_texts_in_parts_have_the_tokens_of_the_whole(tokenizer, monkeypatch, together, long):
    texts = [" ".join((WORDS * 50)[:n]) for n in (0, 1, 2, 30, 400, 7, 450)] + [" ".join(WORDS * 60), "", "ten"]
    whole = [tokenizer.encode(text) for text in texts]
    monkeypatch.setattr(framing, "TOGETHER", together)
    monkeypatch.setattr(framing, "LONG", long)
    found = list(encoded(tokenizer, texts, 25))
    assert [count for _, count in found] == [len(ids) for ids in whole]
    assert [ids.tolist() for ids, _ in found] == [ids[:25].tolist() for ids in whole]
    assert list(encoded(tokenizer, [], 25)) == []


@pytest.mark.slow
def test_pairs_are_cut_as_the_library_cuts_them(tokenizer):
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.Tokenizer.from_str(tokenizer.library.to_str())
    first, last = (tokenizer.ids[mark] for mark in BERT_MARKS[2:4])
    theirs.post_processor = tokenizers.processors.BertProcessing((BERT_MARKS[3], last), (BERT_MARKS[2], first))
    for context in (4, 5, 9, 16, 40):
        theirs.enable_truncation(context, strategy="longest_first")
        for n in range(1, 12):
            for m in (1, 3, 8, 12):
                pair = " ".join((WORDS * 2)[:n]), " ".join((WORDS * 2)[:m])
                ours = framed(tokenizer, [pair], context)
                expected = theirs.encode(*pair)
                assert ours.rows[0].tolist() == expected.ids
                assert segments_of(ours.seconds, len(expected.ids))[0].tolist() == expected.type_ids
                assert ours.cuts[0] == max(len(tokenizer.encode(pair[0])) + len(tokenizer.encode(pair[1])) + 3 - context, 0)
    assert shares(3, 4, 7) == (3, 4)
