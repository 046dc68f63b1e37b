"""The command line: a table of commands, each imported only when it is chosen."""

import importlib
import sys
import warnings
from contextlib import nullcontext

import click

from badak.cli.help import Context, of_click
from badak.cli.output import any_text
from badak.core.errors import BadakError, BadakWarning, visible
from badak.core.i18n import say, tr
from badak.core.public_api.missing import meant

COMMANDS = {  # name: module below badak.cli, what it does
    "train": ("train", "Train a model and save it in a run folder."),
    "eval": ("eval", "Evaluate a trained model on held-out data."),
    "predict": ("predict", "Classify images and texts."),
    "generate": ("generate", "Generate text from a prompt."),
    "chat": ("chat", "Chat with a model."),
    "serve": ("serve", "Serve models over HTTP with the API of OpenAI."),
    "translate": ("translate", "Translate sentences."),
    "fill-mask": ("fill_mask", "Predict the words behind [MASK]."),
    "export": ("export", "Export a trained model in Hugging Face format."),
    "quantize": ("quantize", "Quantize a model, report what it costs, and write a GGUF file."),
    "embed": ("embed", "Embed texts as vectors and search by meaning."),
    "tokenize": ("tokenize", "Tokenize texts of any size into a folder."),
    "run": ("run", "Run a PyTorch program unchanged."),
    "launch": ("launch", "Run a program on several ranks."),
    "look": ("look", "Show attention, layers, gradients and operations as an HTML page."),
    "learn": ("learn", "Learn the Transformer by exercises that badak checks."),
    "path": ("path", "Go the whole path: tokenizer, pretraining, dialogues, rewards, chat."),
    "explain": ("explain", "Explain an error by its code or by a word."),
    "audit": ("audit", "Find silent bugs: leakage and parameters that never learn."),
    "doctor": ("doctor", "Watch the first training steps and report mistakes."),
    "profile": ("profile", "Show where the time of a training step goes, by operation."),
    "bench": ("bench", "Measure training steps on this machine, next to PyTorch if it is installed."),
    "summary": ("summary", "Show the modules, parameters, FLOPs and memory of a model."),
    "source": ("source", "Show the source of a public name: API, operation, kernels, tests."),
    "info": ("info", "Show kernels, threads and versions in use, or the contents of a run folder."),
    "warmup": ("warmup", "Compile all Numba kernels now, so that later runs start at once."),
}

LINE = 600  # characters of a complaint: what somebody typed may be longer


class Group(click.Group):
    """A group whose help, and that of its commands, is in one language."""

    context_class = Context

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        found = super().get_command(ctx, name)
        if found is not None:
            found.context_class = Context
        return found

    def told(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Each command, and what it does."""
        return [(name, " ".join((self.commands[name].help or "").split("\n\n")[0].split())) for name in self.list_commands(ctx)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self.told(ctx))


class Chooser(Group):
    """One that shows its help where no command was named: code 2, for nothing was done."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)


class Table(Chooser):
    """A group whose commands are the rows of COMMANDS."""

    def resolve_command(self, ctx: click.Context, args: list[str]):
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:  # click looks for what was meant among the commands that it holds itself
            near = meant(str(args[0]), COMMANDS)
            raise click.UsageError(tr("No such command {!r}.", args[0]) + (f" Did you mean {near}?" if near else ""), ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found = importlib.import_module(f"badak.cli.{COMMANDS[name][0]}").command
        found.context_class = Context
        return found

    def told(self, ctx: click.Context) -> list[tuple[str, str]]:
        return [(name, text) for name, (_, text) in COMMANDS.items()]  # from the table: help need not import a command


@click.group(cls=Table, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    help="Show the version and exit.",
    callback=lambda ctx, option, asked: show_version(asked),
)
def commands() -> None:
    """badak: Transformers from the bottom up."""


def show_version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        import badak

        click.echo(tr("badak {}", badak.__version__))
        raise click.exceptions.Exit


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code. A mistake is two lines on stderr, what is wrong and what helps, and code 2."""
    given = sys.argv[1:] if arguments is None else arguments
    is_program = given[:1] == ["run"]  # which prints as Python lets it
    with warnings.catch_warnings(), nullcontext() if is_program else any_text():
        warnings.showwarning = show_warning
        try:
            return run_command(given)
        except BadakError as error:
            return complain(error.cause, error.fix and (f"{say(error.fix)} ({error.code})" if error.code else error.fix))
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "badak"
            return complain(of_click(" ".join(error.format_message().split())), tr("{} --help lists what it takes", path))
        except MemoryError as error:
            return complain(tr("not enough memory ({})", error) if str(error) else tr("not enough memory"),
                            tr("a smaller --batch-size, --context, --d-model or --layers, or a smaller file"))  # fmt: skip
        except (click.Abort, KeyboardInterrupt):
            return complain(tr("stopped"), None, code=130)
        except BrokenPipeError:  # the reader of our output has gone, e.g. `badak generate ... | head`
            sys.stderr.close()
            return 0


def run_command(given: list[str]) -> int:
    """Run one command; where several ranks run it, an error ends all of them."""
    try:
        done = commands.main(given, prog_name="badak", standalone_mode=False)
    except Exception as error:
        ranks = sys.modules.get("badak.distributed.engine")
        if ranks is not None and ranks.is_watched() and not isinstance(error, click.exceptions.Exit):
            complain(*((error.cause, error.fix) if isinstance(error, BadakError) else (str(error), None)))
            ranks.failed(error)
        raise
    return done if isinstance(done, int) else 0


def complain(cause: str, fix: str | None, code: int = 2) -> int:
    """Say what is wrong and what helps, on stderr, a line each."""
    for label, text in ((tr("error:"), cause), (tr("fix:"), fix)):
        if text:
            line = visible("; ".join(say(text).splitlines()))
            click.echo(f"{say(label)} {line if len(line) < LINE else f'{line[: LINE // 2]} ... {line[-LINE // 4 :]}'}", err=True)
    return code


def show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """Warnings of badak without the place in the source: at the command line nobody can change it there."""
    name = say("warning:") if issubclass(category, BadakWarning) else f"{category.__name__}:"
    click.echo(f"{name} {visible(str(message))}", err=True)
