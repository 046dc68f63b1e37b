"""Code in colours, where the package pygments is installed; else as it is."""

from html import escape


def as_text(code: str, suffix: str = ".py") -> str:
    """Code with the colours of a terminal."""
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import MarkdownLexer, PythonLexer
    except ImportError:
        return code
    return highlight(code, MarkdownLexer() if suffix == ".md" else PythonLexer(), TerminalFormatter()).rstrip("\n")


def as_html(code: str, suffix: str = ".py") -> str:
    """Code as HTML that needs no style sheet."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import MarkdownLexer, PythonLexer
    except ImportError:
        return f"<pre>{escape(code)}</pre>"
    return highlight(code, MarkdownLexer() if suffix == ".md" else PythonLexer(), HtmlFormatter(noclasses=True))
