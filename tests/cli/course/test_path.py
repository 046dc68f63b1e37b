"""The whole path: stages that build on each other, scores on data that none has seen, and the same bits after an interruption."""

import json
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from badak.cli import commands
from badak.cli.course import path as path_
from badak.cli.course.path import CHAT, MODEL, REPORT, SIZES, STAGES, Material, PathConfig, stage_folder, walk
from badak.cli.course.questions import FIVE, OF_FIVE, carries, story_questions, sums
from badak.core.errors import ArgumentError, FileError
from badak.data.stories import check_story, sentences_of
from badak.generation.chat import Chat
from badak.training.load import load_generator

TINY = replace(
    SIZES["quick"], stories=40, vocabulary=300, d_model=16, heads=2, layers=1, batch_size=4, pretrain_steps=4, shown_sums=20,
    tune_steps=4, reward_steps=3, prompts=2, group_size=2, held_out=3,
)  # fmt: skip
CONFIG = PathConfig(sizes=TINY)


def quiet(line):
    """Nobody listens."""


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    place = tmp_path_factory.mktemp("path")
    return place, walk(CONFIG, place, quiet)


def weights(place, stage):
    return (stage_folder(place, stage) / MODEL / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_each_stage_is_scored_and_asked(walked):
    place, rows = walked
    assert [row["stage"] for row in rows] == list(STAGES)
    for row in rows:
        assert set(row["scores"]) == {"perplexity", "dialogue_loss", "stories_right", "sums_right", "carries_right"}
        assert len(row["answers"]) == 5
    assert rows[1]["scores"]["perplexity"] < rows[0]["scores"]["perplexity"]
    assert rows[2]["scores"]["dialogue_loss"] < rows[1]["scores"]["dialogue_loss"]
    assert len({weights(place, stage) for stage in STAGES[:3]}) == 3


@pytest.mark.slow
def test_a_stage_can_be_chatted_with_by_its_own_template(walked):
    writer = load_generator(stage_folder(walked[0], "tune") / MODEL)
    turns = [{"role": "user", "content": "What is 1 + 2?"}]
    assert writer.template(turns) == CHAT.text(turns)
    assert writer.config.temperature == 0 and writer.ends == (writer.vocabulary.ids[CHAT.end],)
    answer = "".join(Chat(writer, writer.config).ask(FIVE["en"][2])).strip()
    assert answer == walked[1][2]["answers"][2] or len(answer) > 24  # asked with more room


@pytest.mark.slow
@pytest.mark.parametrize("stage", [pytest.param("pretrain", marks=pytest.mark.nightly), "reward"])
def test_a_path_that_was_interrupted_ends_with_the_same_bits(walked, tmp_path, monkeypatch, stage):
    real, place = path_.fit, walked[0]

    def stopped(*args, callbacks=(), **kwargs):
        def stop(progress):
            if f"-{stage}" in str(kwargs["folder"]) and progress.step == 2:
                progress.end("Ctrl-C")

        real(*args, callbacks=[stop], **kwargs)
        if f"-{stage}" in str(kwargs["folder"]):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(path_, "fit", stopped)
        with pytest.raises(KeyboardInterrupt):
            walk(CONFIG, tmp_path, quiet)
    assert len(json.loads((tmp_path / REPORT).read_text())["stages"]) == STAGES.index(stage)
    said = []
    rows = walk(CONFIG, tmp_path, said.append)
    assert any("goes on from step 2" in line for line in said)
    assert weights(tmp_path, "reward") == weights(place, "reward")
    for row, other in zip(rows, walked[1], strict=True):
        assert {**row, "seconds": 0} == {**other, "seconds": 0}


@pytest.mark.slow
def test_other_settings_and_a_changed_report_are_refused(walked, tmp_path):
    with pytest.raises(ArgumentError, match="begun with other settings"):
        walk(replace(CONFIG, seed=1), walked[0], quiet)
    (tmp_path / REPORT).write_bytes((walked[0] / REPORT).read_bytes().replace(b'"seed": 0', b'"seed": 2'))
    with pytest.raises(FileError):
        walk(replace(CONFIG, seed=2), tmp_path, quiet)
    with pytest.raises(ArgumentError, match="one of the languages en, ko; got 'fr'"):
        PathConfig("fr")


@pytest.mark.parametrize("language", ("en", "ko"))
def test_what_is_scored_was_never_shown(language):
    material = Material(PathConfig(language, sizes=replace(TINY, stories=300, held_out=50, shown_sums=1_000)))
    shown = {one.question for one in (*material.sums, *material.rewarded)}
    scored = {one.question for one in (*material.plain, *material.carry)}
    assert len(scored) == 100 and not shown & (scored | set(FIVE[language]))
    assert not {one.question for one in material.sums} & {one.question for one in material.rewarded}
    assert len({*material.stories, *material.held_out_stories}) == 350
    assert not {one.question for one in material.asked} & {one.question for one in material.held_out_asked}


def test_sums_are_right_and_carry_where_they_are_said_to():
    material = Material(PathConfig(sizes=TINY))
    for asked, with_carry in ((material.plain, False), (material.carry, True), (material.rewarded, None)):
        for one in asked:
            x, y = map(int, re.findall(r"\d+", one.question))
            assert one.answer == f"{x + y}." and with_carry in (carries(x, y), None)
    assert len(sums(0)) == 90 * 90 - len(OF_FIVE) and sums(0) != sums(1)


@pytest.mark.parametrize("language", ("en", "ko"))
def test_a_question_is_about_what_the_story_told(language):
    from badak.data.stories import stories

    told = stories(language, 60)
    for story, one in zip(told, story_questions(told, language, 3)):
        *begun, _ = sentences_of(one.question.replace("?", "."))
        assert story.startswith(" ".join(begun)) and not any(
            "grammar" in said for said in check_story(" ".join(begun), language).objections
        )
    answers = {one.answer for one in story_questions(told, language, 3)}
    assert len(answers) > 20


@pytest.mark.slow
def test_own_dialogues_are_learned_and_scored(tmp_path):
    file = tmp_path / "chat.csv"
    file.write_text("Q,A\n" + "".join(f"물음 {i}?,답 {i}.\n" for i in range(40)), encoding="utf-8")
    config = PathConfig("ko", str(file), sizes=replace(TINY, vocabulary=600, held_out=8))
    material = Material(config)
    assert len(material.own) == 38 and len(material.held_out_own) == 2
    rows = walk(config, tmp_path / "path", quiet)
    assert rows[2]["scores"]["own_dialogue_loss"] < rows[0]["scores"]["own_dialogue_loss"]


@pytest.mark.slow
def test_the_command_shows_each_stage(walked, monkeypatch):
    monkeypatch.setitem(SIZES, "quick", TINY)
    done = CliRunner().invoke(commands, ["path", "--quick", "--run", str(walked[0]), "--language", "en"])
    assert done.exit_code == 0, done.output
    for words in ("perplexity of new stories", "new sums with a carry, right", *FIVE["en"], "badak serve"):
        assert words in done.output
    assert done.output.count("\n  rewards ") >= 5
