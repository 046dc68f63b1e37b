"""The words of the field: `python tools/vocabulary.py` lists where source and pages use another one.

Read are comments and strings of the source, and pages; what stands in backquotes is left alone.
docs/reference/glossary.md gives the terms in both languages.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSTEAD = {
    r"storeys?": "layer",
    r"PyTorch's face": "the PyTorch API",
    r"products? of (two )?matrices": "matrix product, matmul",
    r"of (16|8|4) bits": "16-bit, bfloat16, int8",
    r"(?<!image )(?<!logits )(?<!\(R\) )processors?": "CPU",
    r"faults?": "bug",
    r"mend(s|ed|ing)?": "fix",
    r"likeliest": "most likely, top-1",
    r"trainings": "training runs",
    r"by heart": "memorize, overfit",
    r"first weights": "initial weights",
    r"whole numbers?": "integer",
    r"tables? of tokens": "token embedding",
    r"sets? of kernels": "backend",
    r"anew": "again",
    r"in turns": "interleaved",
    r"beside": "next to, compared with",
}
KOREAN = {
    r"(?<![한가-힣])글(?=[은을이과의에로도]|입니다|[ .,])": "텍스트",
    r"시험(?=[은을이과할합])": "평가, 검증",
    r"갱신": "업데이트",
    r"단어 조각": "서브워드",
    r"얼리": "동결",
    r"배우지 않": "학습되지 않",
    r"토큰의 표": "토큰 임베딩",
    r"토큰 번호": "토큰 ID",
}
QUOTED = re.compile(r"`[^`\n]*`|https?://\S+")


def files() -> Iterator[Path]:
    """What people read: the source, its catalogues, and the pages in English."""
    yield from sorted((ROOT / "src").rglob("*.py"))
    yield from sorted((ROOT / "src").rglob("*.po"))
    yield from (page for page in sorted((ROOT / "docs").rglob("*.md")) if "ko" not in page.parts and page.name != "glossary.md")
    yield from (ROOT / "README.md", ROOT / "CONTRIBUTING.md")


def written(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of each line that people read."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield from enumerate(token.string.splitlines(), token.start[0])


def lines() -> Iterator[str]:
    """FILE:LINE: the word, and what to write instead."""
    english = re.compile(rf"(?<![\w.])(?:{'|'.join(INSTEAD)})(?![\w(=]|\.\w)", re.IGNORECASE)
    korean = re.compile("|".join(KOREAN))
    for path in files():
        for number, line in written(path):
            line = QUOTED.sub("", line)
            found, table = (korean, KOREAN) if line.startswith("msgstr") else (english, INSTEAD)
            for match in found.finditer(line):
                better = next(new for old, new in table.items() if re.compile(old, re.IGNORECASE).match(line, match.start()))
                yield f"{path.relative_to(ROOT)}:{number}: {match[0]!r}; write: {better}"


if __name__ == "__main__":
    wrong = list(lines())
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))
