"""Conversations: what the model reads of the history, where an answer ends, and what a folder's template makes of the turns."""

import json
import resource
from dataclasses import replace

import pytest
import torch
import transformers

import badak
from badak import models, nn
from badak.core.errors import ArgumentError, FileError
from badak.data.text import CharVocabulary, WordVocabulary
from badak.data.tokenizer import Tokenizer
from badak.generation import GenerationConfig
from badak.generation.chat import Chat
from badak.generation.folder import Template, TextGenerator, is_published, open_folder
from badak.generation.reader import Reader
from badak.generation.text import generate_text
from badak.io import limited

pytestmark = pytest.mark.slow  # the import of transformers takes two seconds

LETTERS = CharVocabulary("\n abcdefgh")
GREEDY = GenerationConfig(max_new_tokens=30, temperature=0.0, top_k=0)
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
LLAMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] %}"
    "{% set messages = messages[1:] %}{% endif %}{% for message in messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must take turns') }}{% endif %}{% if message['role'] == 'user' %}"
    "{{ '[INST] ' + (system + ' ' if loop.first and system else '') + message['content'].strip() + ' [/INST]' }}"
    "{% else %}{{ ' ' + message['content'] + eos_token }}{% endif %}{% endfor %}"
)


class Reciting(nn.Module):
    """Writes the letters of a text, the n-th in its n-th step after the prompt, and remembers what it read."""

    def __init__(self, text, vocabulary=LETTERS, context=None):
        super().__init__()
        self.text, self.vocabulary, self.read, self.step = vocabulary.encode(text).tolist(), vocabulary, [], 0
        if context is not None:
            self.config = models.GPTConfig(vocab_size=len(vocabulary), context=context)

    def forward(self, ids):
        self.read.append(self.vocabulary.decode(ids[0]))
        token = self.text[self.step % len(self.text)]
        self.step += 1
        return 9.0 * nn.functional.one_hot(badak.full_like(ids, token), len(self.vocabulary)).float()


def chat(text, config=GREEDY, vocabulary=LETTERS, context=None, ends=(), **settings):
    model = Reciting(text, vocabulary, context)
    return Chat(TextGenerator(model, vocabulary, ends), config, **settings), model


def say(conversation, text):
    return "".join(conversation.ask(text))


def test_turns_are_lines_and_an_answer_ends_with_its_line():
    conversation, model = chat(" \nab c\nfg\n")
    assert say(conversation, "dd") == "ab c"
    assert say(conversation, "ee") == "fg"
    assert model.read[0] == "dd\n" and model.read[7] == "dd\nab c\nee\n"
    conversation.reset()
    model.read.clear()
    say(conversation, "h")
    assert model.read[0] == "h\n"


def test_what_stands_before_each_turn():
    conversation, model = chat("ab\n", system="ff", you="a ", answer="b ")
    assert say(conversation, "dd") == "ab"
    say(conversation, "ee")
    assert model.read[0] == "ff\na dd\nb " and model.read[3] == "ff\na dd\nb ab\na ee\nb "


def test_any_of_several_tokens_ends_an_answer():
    ends = tuple(LETTERS.encode("gh").tolist())
    assert [say(*pair) for pair in ((chat("abcga", ends=ends)[0], "a"), (chat("abhga", ends=ends)[0], "a"))] == ["abc", "ab"]
    model = Reciting("abcga")
    assert "".join(generate_text(model, LETTERS, "d", GREEDY, ends)) == "dabc"


def test_an_answer_that_is_left_in_between_stays_as_far_as_it_came():
    conversation, model = chat("abcdef\n")
    pieces = conversation.ask("h")
    assert next(pieces) + next(pieces) == "ab"
    pieces.close()
    model.step = 0
    say(conversation, "g")
    assert "h\nab\ng\n" in model.read


def test_a_question_that_cannot_be_read_is_refused_and_forgotten():
    conversation, model = chat("ab\n")
    with pytest.raises(ArgumentError, match="'z' .* is not among the 10 characters known\nfix: "):
        conversation.ask("az")
    say(conversation, "a")
    assert model.read[0] == "a\n"
    words = WordVocabulary.from_texts(["one two"])
    with pytest.raises(ArgumentError, match="has never seen the word 'three'\nfix: "):
        chat("one", vocabulary=words)[0].ask("three")


def test_the_oldest_turns_make_room_and_that_is_said_once():
    said = []
    conversation, model = chat("abc\n", replace(GREEDY, max_new_tokens=6), context=20, tell=said.append)
    for question in ("aa", "bb", "cc", "dd", "h" * 40):
        model.step, begun = 0, len(model.read)
        assert say(conversation, question) == "abc"
        first = model.read[begun]
        assert len(first) <= 14 and (first.endswith(f"{question}\n") or question == "h" * 40)
    assert first == "h" * 13 + "\n"
    assert said == ["the model sees 20 tokens: what was said first is left out from now on"]


def test_each_answer_has_draws_of_its_own_and_the_same_after_a_reset():
    config = GenerationConfig(max_new_tokens=12, temperature=1.0, top_k=0)
    badak.manual_seed(0)
    model = models.GPT(models.GPTConfig(vocab_size=len(LETTERS), context=8, d_model=8, layers=1))
    conversation = Chat(TextGenerator(model, LETTERS), config, tell=lambda sentence: None)
    first = [say(conversation, "a" * 7) for _ in range(4)]  # whose history never fits
    conversation.reset()
    assert [say(conversation, "a" * 7) for _ in range(4)] == first and len(set(first)) > 1


def test_beams_are_no_stream():
    with pytest.raises(ArgumentError, match="chat streams one text, beams are several\nfix: num_beams=1"):
        chat("a", GenerationConfig(num_beams=2))


# Folders of Hugging Face


@pytest.fixture
def folder(tmp_path):
    """A function that makes a folder of a small GPT-2 with a tokenizer and a chat template."""

    def make(template=None, **more):
        marks = ["<|im_start|>", "<|im_end|>", "<s>"]
        tokenizer = Tokenizer.train_bpe(["user assistant system hello there, how are you? 안녕하세요"] * 3, 320, special=marks)
        badak.manual_seed(0)
        model = models.GPT(models.GPTConfig(vocab_size=len(tokenizer), context=200, d_model=16, layers=1, heads=2))
        with badak.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.4)
        model.save_pretrained(tmp_path)
        tokenizer.save(tmp_path)
        end = {"__type": "AddedToken", "content": "<|im_end|>", "lstrip": False, "normalized": False, "rstrip": False}
        said = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": end, **more}
        if template is not None:
            said["chat_template"] = template
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(said), encoding="utf-8")
        return tmp_path

    return make


TURNS = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "hello {{ there }}"},
    {"role": "assistant", "content": "안녕하세요"},
    {"role": "user", "content": " how\nare you? "},
]


@pytest.mark.slow
@pytest.mark.parametrize("template", [CHATML, LLAMA], ids=["chatml", "llama"])
@pytest.mark.parametrize("place", ["table", "list", "file"])
def test_the_turns_become_the_text_and_the_tokens_of_transformers(folder, template, place):
    several = [{"name": "other", "template": "x"}, {"name": "default", "template": template}]
    where = folder({"table": template, "list": several}.get(place))
    if place == "file":
        (where / "chat_template.jinja").write_text(template, encoding="utf-8")
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(where)
    ours = open_folder(where)
    for turns in (TURNS, TURNS[:2], TURNS[1:2]):
        expected = theirs.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        assert ours.template(turns) == expected
        assert ours.vocabulary.encode(expected).tolist() == theirs(expected, add_special_tokens=False)["input_ids"]


@pytest.mark.slow
def test_an_answer_is_the_one_of_transformers(folder):
    where = folder(CHATML)
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(where)
    model = transformers.GPT2LMHeadModel.from_pretrained(where).eval()
    ids = theirs.apply_chat_template(TURNS[1:2], add_generation_prompt=True, return_tensors="pt", return_dict=True)["input_ids"]
    banned = [[theirs.convert_tokens_to_ids(token)] for token in ("<|im_start|>", "<s>")]
    with torch.no_grad():
        made = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=30, do_sample=False, pad_token_id=0,
                              eos_token_id=theirs.convert_tokens_to_ids("<|im_end|>"), bad_words_ids=banned)  # fmt: skip
    writer = open_folder(where)
    writer = replace(writer, ends=(writer.vocabulary.ids["<|im_end|>"],))
    assert say(Chat(writer, GREEDY), TURNS[1]["content"]) == theirs.decode(made[0, ids.shape[1] :], skip_special_tokens=True)


def test_where_a_text_ends_is_read_from_the_folder(folder):
    where = folder()
    assert open_folder(where).ends == () and open_folder(where).template is None
    (where / "generation_config.json").write_text('{"eos_token_id": [1, 2]}')
    assert open_folder(where).ends == (1, 2)
    (where / "generation_config.json").write_text('{"eos_token_id": 99999}')  # of another vocabulary
    assert open_folder(where).ends == ()


def test_what_is_a_folder_of_hugging_face(folder, tmp_path):
    assert is_published(folder())
    for text in ('{"experiment": "gpt", "model_type": 3}', "[1]", "{", '{"a": 1}'):
        (tmp_path / "config.json").write_text(text)
        assert not is_published(tmp_path)
    assert not is_published(tmp_path / "none")


WRONG = {
    "no template": (CHATML[:-12], "the chat template fails"),
    "its own complaint": ("{{ raise_exception('no talking') }}", r"the chat template fails \(no talking\)"),
    "an unknown name": ("{{ messages.nothing.more }}", r"the chat template fails \('list object' has no attribute 'nothing'\)"),
    "a way out of the sandbox": ("{{ ''.__class__.__mro__ }}", "the chat template fails .*unsafe"),
    "a number": (3, "chat_template is a int"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_template_that_is_none_is_refused(folder, name):
    template, text = WRONG[name]
    with pytest.raises(FileError, match=text) as caught:
        open_folder(folder(template)).template(TURNS)
    assert len(str(caught.value).splitlines()) == 2


BOMBS = {  # how a template asks for years, or for terabytes
    "a power": "{{ 2 ** (10 ** 10) }}",
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(9) %}{% endfor %}{% endfor %}{% endfor %}",
    "a wide text": "{{ 'x'.center(3000000000) }}",
    "zeros": "{{ 'x'.zfill(3000000000) }}",
    "a text many times": "{{ 'x' * 3000000000 }}",
    "a list many times": "{{ [0] * 3000000000 }}",
    "a wide number": "{{ '%9999999999d' % 1 }}",
    "a wide field": "{{ '{:>9999999999}'.format(1) }}",
    "a text that doubles": "{% set n = namespace(s='x') %}{% for i in range(40) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}",
    "a macro that calls itself": "{% macro m(x) %}{{ m(x ~ x) }}{% endmacro %}{{ m('ab') }}",
    "replacements": "{{ ('x' * 9999999).replace('x', 'y' * 999999) }}",
    "a join": "{{ range(99999)|list|join('x' * 99999) }}",
    "an indent": "{{ messages|tojson(indent=3000000000) }}",
    "a filter": "{{ 'x'|indent(4000000000) }}",
    "made words": "{{ lipsum(n=1000000) }}",
    "lines": "{{ ('x ' * 9999999)|wordwrap(1) }}",
    "a long text": "{{ 'x' * 100000000 }}",
    "brackets": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
}


@pytest.mark.thin(8)
@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_template_that_asks_for_too_much_is_refused_and_takes_nothing_here(name, monkeypatch):
    monkeypatch.setattr(limited, "SECONDS", 1)
    monkeypatch.setattr(limited, "MEMORY", 1 << 29)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match="W: the chat template fails .*\nfix: fix it, or --plain") as caught:
        Template(BOMBS[name], {}, "W")([{"role": "user", "content": "Hello"}])
    assert len(str(caught.value).splitlines()) == 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 18  # KiB


def test_a_folder_that_writes_no_text_is_refused(tmp_path):
    models.BERT(models.BERTConfig(d_model=16, heads=2, layers=1)).save_pretrained(tmp_path)
    with pytest.raises(ArgumentError, match="a BERT writes no text\nfix: a folder of GPT-2"):
        open_folder(tmp_path)


def test_a_tokenizer_of_another_model_is_refused(folder):
    where = folder()
    models.GPT(models.GPTConfig(vocab_size=9, d_model=16, layers=1)).save_pretrained(where)
    with pytest.raises(ArgumentError, match="a tokenizer of 3.. tokens, a model of 9\nfix: "):
        open_folder(where)


# ---------------------------------------------------------------- the cache between turns


def talker(kind="gpt", context=200):
    badak.manual_seed(3)
    sizes = {"vocab_size": len(LETTERS), "context": context, "d_model": 16, "heads": 2, "layers": 2}
    model = models.GPT(models.GPTConfig(**sizes)) if kind == "gpt" else models.Llama(models.LlamaConfig(**sizes, feedforward=24))
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    return model.eval()


def counted(model):
    """How many tokens each call of the model has read."""
    read = []
    model.register_forward_pre_hook(lambda _, args: read.append(args[0].shape[1]))
    return read


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gpt", "llama"])
@pytest.mark.parametrize("compiled", [False, True])
def test_what_was_said_is_not_read_again_and_answers_are_the_same(kind, compiled):
    config = GenerationConfig(max_new_tokens=9, temperature=0.7, top_k=0, seed=5)
    model, twin = talker(kind), talker(kind)
    if compiled:
        model.compile()
    keeps, rereads = (Chat(TextGenerator(each, LETTERS), config, system="hh") for each in (model, twin))
    read = [] if compiled else counted(model)
    for question in ("abc", "d", "efgh a", "b"):
        rereads.reader = Reader(twin, 1)
        assert say(keeps, question) == say(rereads, question)
        assert keeps.reader.seen.tolist() == rereads.reader.seen.tolist()
        assert keeps.reader.cache.length == keeps.reader.seen.shape[1]
    if not compiled:  # the whole of the first question, of each later one little more than itself
        firsts = [n for n in read if n > 1]
        assert firsts[0] == len("hh\nabc\n") and all(n < 12 for n in firsts[1:])


def test_logits_after_a_kept_history_are_those_of_the_whole():
    model = talker("llama")
    reader, ids = Reader(model, 1), badak.tensor([[1, 2, 3, 4, 5, 6, 7]])
    with badak.no_grad():
        for text in (ids[:, :4], ids, badak.cat([ids[:, :5], ids], dim=1), ids[:, :3], ids[:, :3]):
            reader.go_on(text, text.shape[1])
            assert badak.allclose(reader.read(text), model(text)[:, -1], atol=1e-5)


def test_a_history_read_with_other_weights_is_read_again():
    model, config = talker(), GenerationConfig(max_new_tokens=5, temperature=0.0, top_k=0)
    conversation = Chat(TextGenerator(model, LETTERS), config)
    say(conversation, "abc")
    with badak.no_grad():
        for parameter in model.parameters():
            parameter.mul_(-0.7)
    read = counted(model)
    anew = Chat(TextGenerator(model, LETTERS), config)
    anew.turns, anew.answers = list(conversation.turns), conversation.answers
    assert say(conversation, "d") == say(anew, "d")
    assert read[0] > len("abc\nd\n")


def test_an_answer_that_is_cut_short_leaves_the_cache_right():
    model, config = talker(), GenerationConfig(max_new_tokens=30, temperature=0.8, top_k=0, seed=1)
    conversation, anew = Chat(TextGenerator(model, LETTERS), config), Chat(TextGenerator(model, LETTERS), config)
    for one in (conversation, anew):
        pieces = one.ask("abc")
        next(pieces), next(pieces)
        pieces.close()
    anew.reader = Reader(model, 1)
    assert say(conversation, "de") == say(anew, "de")


def test_beyond_the_context_the_oldest_turns_go_with_their_cache():
    config = GenerationConfig(max_new_tokens=6, temperature=0.7, top_k=0, seed=2)
    model = talker(context=24)
    conversation, anew = Chat(TextGenerator(model, LETTERS), config), Chat(TextGenerator(model, LETTERS), config)
    for question in ("abc", "defg", "h", "abcdefgh", "a"):
        anew.reader = Reader(model, 1)
        assert say(conversation, question) == say(anew, question)
