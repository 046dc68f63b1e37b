"""badak learn [start|check|hint|solution|report|verify]"""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from badak.cli import Group
from badak.cli.options import PLACE
from badak.cli.output import echo
from badak.core.i18n import columns, padded, say, tr
from badak.io.atomic import write_file

if TYPE_CHECKING:
    from badak.cli.course.check import Verdict
    from badak.cli.course.course import Folder
    from badak.cli.course.exercise import Exercise


def place(function):
    """The option of the learner's folder."""
    return click.option("--dir", "folder", type=PLACE, metavar="FOLDER", help="folder of the course [default: badak-course]")(
        function
    )


exercise = click.argument("word", metavar="EXERCISE")


def opened(folder: str | None) -> "Folder":
    """The learner's folder."""
    from badak.cli.course.course import FOLDER, Folder

    return Folder(folder or FOLDER)


@click.group(cls=Group, invoke_without_command=True)
@place
@click.pass_context
def command(ctx: click.Context, folder: str | None) -> None:
    """Learn the Transformer by exercises, each a few lines, checked inside badak.

    Without a command it lists the exercises and your progress. EXERCISE is a number or a name: 03, attention.
    """
    ctx.obj = folder
    if ctx.invoked_subcommand is None:
        listed(opened(folder))


def listed(own: "Folder") -> None:
    """Print the course."""
    from badak.cli.course.course import COURSE

    marks = {"done": say("done"), "open": say("started"), "": ""}
    width = max(columns(mark) for mark in marks.values())
    done = 0
    for each in COURSE.values():
        state = "done" if own.is_done(each) else "open" if own.file(each).is_file() else ""
        done += state == "done"
        click.echo(tr("  {}  {:02}  {}", padded(marks[state], width), each.number, each.title))
    echo(tr("{} of {} done, in {}", done, len(COURSE), own.path))
    following = next((each for each in COURSE.values() if not own.is_done(each)), None)
    if following is not None:
        step = "check" if own.file(following).is_file() else "start"
        echo(tr("next: badak learn {} {:02}", step, following.number))


@command.command()
@place
@click.option("--force", is_flag=True, help="write the file again: what you wrote is lost")
@exercise
@click.pass_obj
def start(outer: str | None, folder: str | None, force: bool, word: str) -> None:
    """Write the file of an exercise: its text, a signature and holes."""
    from badak.cli.course.course import exercise_of

    meant, own = exercise_of(word), opened(folder or outer)
    file = own.start(meant, force)
    echo(tr("{} is written: {}", file, meant.title))
    echo(tr("write your code in the holes, then: badak learn check {:02}", meant.number))


@command.command()
@place
@click.option("--force", is_flag=True, help="write the notebook again: what you wrote is lost")
@exercise
@click.pass_obj
def notebook(outer: str | None, folder: str | None, force: bool, word: str) -> None:
    """Write an exercise as a Jupyter notebook: text, code, check and hints. Its cells use the files of your folder."""
    from badak.cli.course.course import exercise_of
    from badak.cli.course.notebook import write

    file = write(opened(folder or outer), exercise_of(word), force)
    echo(tr("{} is written: open it in Jupyter", file))


@command.command()
@place
@click.option("--seconds", type=click.FloatRange(1), default=30, show_default=True, help="time limit")
@exercise
@click.pass_obj
def check(outer: str | None, folder: str | None, seconds: float, word: str) -> int:
    """Check your file of an exercise: cases, gradients, and a small model that trains with it.

    It runs in a process of its own. Exit code: 0 if it is right, 1 otherwise.
    """
    from badak.cli.course.course import exercise_of, hash_of
    from badak.cli.course.run import run

    meant, own = exercise_of(word), opened(folder or outer)
    file = own.started(meant)
    was = hash_of(file)
    verdict = run(meant, file, seconds)
    facts = {"attempts": own.of(meant).get("attempts", 0) + 1}
    if verdict.ok:
        facts |= {"passed": was, "when": datetime.now(UTC).isoformat(timespec="seconds")}
    own.note(meant, **facts)
    shown(meant, verdict)
    return 0 if verdict.ok else 1


def shown(meant: "Exercise", verdict: "Verdict") -> None:
    """Print a verdict."""
    if verdict.printed:
        echo("your program printed:")
        for line, text in verdict.printed:
            click.echo(f"  {meant.file}:{line}: {text}")
        echo("fix: take print out when you are done; what it prints is not judged")
    for line, text in verdict.warned:
        click.echo(f"{say('warning:')} {meant.file}:{line}: {say(text)}")
    if verdict.ok:
        echo(tr("right: {} cases in {:.1f} s", verdict.cases, verdict.seconds))
        if verdict.trial:
            click.echo(verdict.trial)
        return
    where = f"{meant.file}:{verdict.line}: " if verdict.line else ""
    case = f" ({verdict.case})" if verdict.case else ""
    click.echo(tr("{} {}{}{}", say("error:"), where, verdict.cause, case))
    click.echo(tr("{} {}", say("fix:"), verdict.fix))
    if verdict.mistake:
        echo(tr("it looks like this mistake: {}", verdict.mistake))
    if verdict.rows:
        titles = ("", say("yours"), say("expected"))
        widths = [max(columns(row[i]) for row in [titles, *verdict.rows]) for i in range(3)]
        for row in [titles, *verdict.rows]:
            click.echo("  " + "  ".join(padded(cell, width, right=i > 0) for i, (cell, width) in enumerate(zip(row, widths))))
    echo(tr("badak learn hint {:02} helps", meant.number))


@command.command()
@place
@exercise
@click.pass_obj
def hint(outer: str | None, folder: str | None, word: str) -> None:
    """Show the next of three hints."""
    from badak.cli.course.course import exercise_of

    meant, own = exercise_of(word), opened(folder or outer)
    seen = min(own.of(meant).get("hints", 0) + 1, len(meant.hints))
    own.note(meant, hints=seen)
    for number, text in enumerate(meant.hints[:seen], 1):
        click.echo(f"{number}/{len(meant.hints)}  {text}")


@command.command()
@place
@exercise
@click.pass_obj
def solution(outer: str | None, folder: str | None, word: str) -> None:
    """Show a solution with its derivation. Your report says that you asked."""
    from badak.cli.course.course import exercise_of

    meant, own = exercise_of(word), opened(folder or outer)
    own.note(meant, solution=1)
    click.echo(f"{meant.solution}\n{meant.derivation}")


@command.command()
@place
@click.option("--name", default="", help="your name, as your lecturer knows it")
@click.option("-o", "--out", type=PLACE, default="badak-course.json", show_default=True, help="file to write")
@click.pass_obj
def report(outer: str | None, folder: str | None, name: str, out: str) -> None:
    """Write a summary with your programs and a hash, for a lecturer."""
    from badak.cli.course.report import report as summary

    made = summary(opened(folder or outer), name)
    text = json.dumps(made, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    write_file(out, lambda file: file.write(text))
    echo(tr("{} is written: {} of {} done, {}", out, made["done"], made["exercises"], made["sha256"][:16]))


@command.command()
@click.option("--run", "is_run", is_flag=True, help="check each program again; it is run on this machine")
@click.argument("file", type=PLACE)
def verify(is_run: bool, file: str) -> int:
    """Verify a report: that it was not changed, and with --run that its programs are right.

    The hash is no signature: whoever changes a report can compute it again. --run runs other people's programs: use a machine or an
    account that holds nothing of value. Exit code: 1 if a program that the report calls done is wrong.
    """
    from badak.cli.course.report import again, read
    from badak.core.errors import visible
    from badak.core.public_api.version import version

    made, wrong = read(file), 0
    name = visible(made["name"]).replace("\n", " ") or say("no name")
    if made["badak"] != version():
        echo(tr("written by badak {}; this is {}, whose checks may differ", visible(made["badak"]), version()))
    echo(
        tr("{}: {} of {} done, written {}, {}", name, made["done"], made["exercises"], visible(made["written"]),
           made["sha256"][:16])
    )  # fmt: skip
    verdicts = {row["exercise"]: verdict.ok for row, verdict in again(made)} if is_run else {}
    for row in made["rows"]:
        ok = verdicts.get(row["exercise"])
        wrong += row["done"] and ok is False
        state = say("done") if row["done"] else say("started")
        checked = "" if ok is None else say("right") if ok else say("wrong")
        counts = say("checks: {}, hints: {}", row["attempts"], row["hints"]) + (
            say(", solution asked for") if row["solution"] else ""
        )
        click.echo(tr("  {} {}: {}  {}  {}", row["exercise"], row["name"], state, checked, counts))
    return 1 if wrong else 0
