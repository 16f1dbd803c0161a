"""Files as documents: text and Markdown as they are; PDF, HTML and DOCX by well-kept libraries (extra `documents`)."""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from schema.document import MAX_DOCUMENT_BYTES, MediaType
from schema.errors import OperatorError, Refused

_FORMATS: Final = (".txt", ".text", ".md", ".markdown", ".pdf", ".html", ".htm", ".docx")
_MAX_FILE_BYTES: Final = 100_000_000
"""A file with pictures is much larger than its text."""
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS: Final = (
    *_HEADINGS,
    *("p", "li", "pre", "blockquote", "dt", "dd", "figcaption"),
    *("div", "section", "article", "header", "footer", "tr", "hr"),
)
_BREAK: Final = "\x1e"
_LINE: Final = "\ue000"
"""Marks between blocks, and between lines that count, that no text has."""
_CELL: Final = "\ue001"
"""The mark before a cell of a table's row, that no text has."""
_SOFT_HYPHEN: Final = "\N{SOFT HYPHEN}"
_WORD: Final = re.compile(r"[^\W\d_]+")
_WORD_OVER_LINES: Final = re.compile(rf"\b([^\W\d_]+[-{_SOFT_HYPHEN}])[^\S\n]*\n[^\S\n]*([^\W\d_]+)")
_LIGATURES: Final = {
    code: unicodedata.normalize("NFKC", chr(code)) for code in range(ord("\N{LATIN SMALL LIGATURE FF}"), 0xFB07)
}
"""Letters that fonts have as one sign, and a PDF therefore too: no search for "find" finds them."""
_HEADING_STYLE: Final = re.compile(r"Heading ([1-6])")
_NO_TEXT: Final = ("script", "style", "noscript", "template", "nav")


class UnreadableFile(Refused):
    """The file cannot be taken as a document. The message says why."""


class ReaderMissing(OperatorError):
    """A library that reads this format is not installed. The message says which extra brings it."""


@dataclass(frozen=True)
class FileText:
    """The text of a file, and where its pages begin, if it has any. `title` is what the file says of itself."""

    content: str
    media_type: MediaType
    pages: tuple[int, ...] = ()
    title: str | None = None


def read_file(path: Path) -> FileText:
    """Return the text of a file, by the ending of its name.

    Raises:
        UnreadableFile: it is of another format, too large, damaged, locked, or has no text in it.
        ReaderMissing: what reads this format is not installed.
    """
    ending = path.suffix.lower()
    if ending not in _FORMATS:
        raise UnreadableFile(f"{path.name}: {ending or 'no ending'}; what is read are {', '.join(_FORMATS)}")
    try:
        size = path.stat().st_size
        if size > _MAX_FILE_BYTES:
            raise UnreadableFile(f"{path.name} has {size:,} bytes; at most {_MAX_FILE_BYTES:,} are read")
        raw = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror}") from error
    return read_bytes(raw, ending, path.name)


def read_bytes(raw: bytes, ending: str, name: str) -> FileText:
    """Return the text of a file's bytes; `ending` says what they are, such as ".pdf".

    Raises:
        UnreadableFile, ReaderMissing: as `read_file`.
    """
    try:
        match ending:
            case ".pdf":
                file_text = _pdf(raw)
            case ".html" | ".htm":
                file_text = _html(raw)
            case ".docx":
                file_text = _docx(raw)
            case ".md" | ".markdown":
                file_text = FileText(_decoded(raw, name), "text/markdown")
            case _:
                file_text = FileText(_decoded(raw, name), "text/plain")
    except ImportError as error:
        raise ReaderMissing(
            f"{name}: {error.name} is not installed, which reads {ending}; pip install 'afterturn[documents]'"
        ) from error
    except (Refused, OperatorError):
        raise
    except Exception as error:  # Each library raises classes of its own, and the cause is always the file.
        raise UnreadableFile(f"{name} cannot be read as {ending} ({type(error).__name__}); is it damaged?") from error
    if not file_text.content.strip():
        raise UnreadableFile(f"{name} has no text; a scan must go through text recognition first")
    if len(file_text.content.encode()) > MAX_DOCUMENT_BYTES:
        raise UnreadableFile(f"{name} has more than {MAX_DOCUMENT_BYTES:,} bytes of text; put it in parts")
    return file_text


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{name} is no UTF-8 (byte {error.start}); save it as UTF-8") from error


def _pdf(raw: bytes) -> FileText:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(raw))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableFile("the PDF asks for a password; save it without one")
    # A page ends a paragraph, as far as one can tell.
    texts = [_clean(page.extract_text()).translate(_LIGATURES) + "\n\n" for page in reader.pages]
    pages: list[int] = []
    length = 0
    known = set(_WORD.findall("".join(texts).casefold()))
    for number, text in enumerate(texts):
        pages.append(length)
        texts[number] = _WORD_OVER_LINES.sub(partial(_joined, known), text)
        length += len(texts[number])
    title = reader.metadata.title if reader.metadata else None
    return FileText("".join(texts), "text/plain", tuple(pages), _title(title))


def _joined(known: set[str], over_lines: re.Match[str]) -> str:
    """Return a word that a line's end parts, without its hyphen if the text has the whole word elsewhere, with it if
    not: "well-" and "known" may be a compound."""
    first, second = over_lines.groups()
    whole = first.removesuffix(_SOFT_HYPHEN).removesuffix("-") + second
    return whole if first.endswith(_SOFT_HYPHEN) or whole.casefold() in known else first + second


def _html(raw: bytes) -> FileText:
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(raw, "html.parser")
    for gone in soup(_NO_TEXT):
        gone.decompose()
    title = soup.title.get_text(" ", strip=True) if soup.title else None
    body = soup.body or soup
    for block in body.find_all(_BLOCKS):
        block.insert_before(_BREAK)
        block.insert_after(_BREAK)
        if block.name == "pre":
            block.string = block.get_text().replace("\n", _LINE)
        elif block.name in _HEADINGS and block.get_text(strip=True):
            block.insert(0, _heading(_HEADINGS.index(block.name) + 1))
    for cell in body.find_all(("td", "th")):
        cell.insert_before(_CELL)
    paragraphs = (
        " ".join(part.split()).replace(_LINE, "\n").strip(f"{_CELL} ").replace(_CELL, "\t")
        for part in body.get_text().split(_BREAK)
    )
    return FileText(_clean("\n\n".join(part for part in paragraphs if part.strip())), "text/plain", title=_title(title))


def _docx(raw: bytes) -> FileText:
    import docx
    from docx.table import Table

    file = docx.Document(io.BytesIO(raw))
    paragraphs: list[str] = []
    for part in file.iter_inner_content():
        if isinstance(part, Table):
            paragraphs += ["\t".join(cell.text for cell in row.cells) for row in part.rows]
        else:
            style = _HEADING_STYLE.fullmatch(part.style.name or "") if part.style and part.text.strip() else None
            paragraphs.append(_heading(int(style[1])) + part.text if style else part.text)
    content = "\n\n".join(_clean(paragraph) for paragraph in paragraphs if paragraph.strip())
    return FileText(content, "text/plain", title=_title(file.core_properties.title))


def _heading(level: int) -> str:
    """Return what stands before a heading in Markdown, by which a section is known when the text is cut."""
    return "#" * level + " "


def _clean(text: str) -> str:
    """Return the text without what no document may have: the character of the code 0, and halves of surrogates."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode()


def _title(title: str | None) -> str | None:
    cleaned = " ".join((title or "").split())[:300]
    return cleaned or None
