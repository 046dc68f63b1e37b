"""badak explain BADAK-011 | WORD"""

import inspect

import click

from badak.core.i18n import say
from badak.inspect.audit.report import explained
from badak.inspect.introspection.error_codes import explain


@click.command()
@click.argument("name", metavar="CODE|WORD")
def command(name: str) -> None:
    """Explain an error by its code, such as BADAK-011, or by a word, such as mask: cause, example program, fix."""
    code = name.strip().upper()
    click.echo(diagnosis(code) or explained(code) or explain(name))


def diagnosis(code: str) -> str:
    """What a code of badak doctor means, "" where it is none."""
    from badak.inspect.doctor.diagnoses import DIAGNOSES

    for kind in DIAGNOSES:
        if kind.code in (code, f"BADAK-{code}"):
            return f"{kind.code}  {say(kind.title)}\n\n{say(' '.join((inspect.getdoc(kind) or '').split()))}"
    return ""
