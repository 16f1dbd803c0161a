"""The texts of the pages, as gettext finds them.

`python -m tests.page_texts > interfaces/http/pages/locale/pages.pot` writes them down.
"""

from __future__ import annotations

import ast
import json
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from jinja2 import Environment, nodes

import interfaces.http.pages as pages
from interfaces.http.pages.rendering import ENVIRONMENT

PAGES: Final = Path(pages.__file__).parent
CATALOGUE: Final = PAGES / "locale" / "pages.pot"
_CALLS: Final = ("gettext", "ngettext", "marked", "_")
_HEADER: Final = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n"
Message = tuple[str, ...]
"""A text, or its singular and plural."""


def templates() -> Iterator[Path]:
    yield from sorted((PAGES / "templates").rglob("*.html"))


def messages() -> dict[Message, set[str]]:
    """Return all texts that a page may show, and the files in which they stand."""
    found: dict[Message, set[str]] = defaultdict(set)
    for path in templates():
        for _, _, message in ENVIRONMENT.extract_translations(path.read_text()):  # type: ignore[attr-defined]
            texts = (message,) if isinstance(message, str) else tuple(filter(None, message or ()))
            # A name stands for a text that is marked elsewhere.
            if texts:
                found[texts].add(str(path.relative_to(PAGES)))
    for path in sorted(PAGES.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _CALLS:
                texts = tuple(
                    one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)
                )
                if texts:
                    found[texts].add(str(path.relative_to(PAGES)))
    return found


def catalogue() -> str:
    """Return all texts as a gettext template."""
    lines = ['msgid ""', 'msgstr ""', *(_quoted(f"{line}\n") for line in _HEADER.splitlines()), ""]
    for message, files in sorted(messages().items()):
        lines += [f"#: {name}" for name in sorted(files)]
        if any("%(" in text for text in message):
            lines.append("#, python-format")
        lines.append(f"msgid {_quoted(message[0])}")
        if len(message) == 1:
            lines.append('msgstr ""')
        else:
            lines += [f"msgid_plural {_quoted(message[1])}", 'msgstr[0] ""', 'msgstr[1] ""']
        lines.append("")
    return "\n".join(lines)


def compiled(translations: Mapping[Message, Message]) -> bytes:
    """Return a catalogue as `msgfmt` makes it: the format of GNU gettext's .mo files, without its hash table."""
    texts = {"": _HEADER} | {"\0".join(message): "\0".join(said) for message, said in translations.items()}
    keys = sorted(text.encode() for text in texts)
    values = [texts[key.decode()].encode() for key in keys]
    begin = 7 * 4 + 16 * len(keys)
    tables, data = b"", b""
    for part in (keys, values):
        for text in part:
            tables += struct.pack("<2I", len(text), begin + len(data))
            data += text + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, len(keys), 28, 28 + 8 * len(keys), 0, 0) + tables + data


def write_catalogue(folder: Path, language: str, translations: Mapping[Message, Message]) -> None:
    """Write a catalogue where the pages look for it."""
    path = folder / language / "LC_MESSAGES" / "pages.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(compiled(translations))


def bracketed() -> dict[Message, Message]:
    """Return a language for tests: every text in brackets."""
    return {message: tuple(f"⟦{text}⟧" for text in message) for message in messages()}


def parsed(path: Path) -> nodes.Template:
    environment: Environment = ENVIRONMENT
    return environment.parse(path.read_text())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    print(catalogue(), end="")
