"""Every text of the pages goes through gettext, and a page is in the language that its reader likes best."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from jinja2 import nodes

from interfaces.http.pages.language import gettext, language, load_catalogues, speaking
from interfaces.http.pages.rendering import ENVIRONMENT, page
from schema.errors import SettingsError
from tests.page_texts import CATALOGUE, bracketed, catalogue, messages, parsed, templates, write_catalogue

_TAG: Final = re.compile(r"<[^>]*>")
_SPOKEN: Final = re.compile(r'(?:aria-label|placeholder|title|alt)="([^"]*)"')
_ENTITY: Final = re.compile(r"&\w+;")
_WORD: Final = re.compile(r"[^\W\d_]")
_SENTENCE: Final = re.compile(r"^[A-Z]|[a-z] [a-z]")
_GETTEXT: Final = ("_", "gettext", "ngettext")
_OF_THEMSELVES: Final = {
    "Afterturn",
    "AFTERTURN_LLM_PRICE_PROMPT",
    "AFTERTURN_LLM_PRICE_COMPLETION",
    "AFTERTURN_EMBEDDER_PRICE",
    "staff:ann",
}
"""Names and examples of code, which are the same in every language."""


def _written(template: nodes.Template) -> str:
    """What a template writes outside of its expressions; the block `here` is an address."""
    addresses = [output for block in template.find_all(nodes.Block) if block.name == "here" for output in block.body]
    return "".join(
        part.data if isinstance(part, nodes.TemplateData) else "\0"
        for output in template.find_all(nodes.Output)
        if output not in addresses
        for part in output.nodes
    )


def _constants(node: nodes.Node) -> Iterator[str]:
    """The texts in expressions that no gettext, comparison or filter takes."""
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name in _GETTEXT:
        return
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node.value
    inner: Iterator[nodes.Node] = node.iter_child_nodes()
    if isinstance(node, nodes.Filter):
        inner = iter([node.node] if node.node else [])
    elif isinstance(node, (nodes.Compare, nodes.Getitem, nodes.Extends, nodes.FromImport)):
        return
    for child in inner:
        yield from _constants(child)


@pytest.mark.parametrize("path", list(templates()), ids=lambda path: path.stem)
def test_a_template_says_nothing_that_is_not_translated(path: Path) -> None:
    template = parsed(path)
    written = _written(template)
    for name in _OF_THEMSELVES:
        written = written.replace(name, "")
    visible = _ENTITY.sub("", _TAG.sub("", written))
    assert _WORD.findall(visible) == []
    assert [text for text in _SPOKEN.findall(written) if _WORD.search(text)] == []
    assert [text for text in _constants(template) if _SENTENCE.search(text)] == []


@pytest.mark.parametrize("path", list(templates()), ids=lambda path: path.stem)
def test_no_two_sentences_of_a_template_run_together(path: Path) -> None:
    # A line's end behind a block is trimmed, so one sentence behind another needs a space of its own.
    assert re.findall(r"\.\{% endtrans %\}(?:\{% endif %\})?\n *\{%.*", path.read_text()) == []


def test_the_catalogue_has_every_text() -> None:
    assert CATALOGUE.read_text() == catalogue(), "python -m tests.page_texts > interfaces/http/pages/locale/pages.pot"
    assert len(messages()) > 300


def test_a_text_that_the_code_marks_is_translated_where_it_is_shown(tmp_path: Path) -> None:
    write_catalogue(tmp_path, "de", {("Saved.",): ("Gespeichert.",), ("1 of %(a)s",): ("1 von %(a)s",)})
    with speaking("de", tmp_path):
        assert gettext("Saved.") == "Gespeichert."
        assert gettext("Not in it.") == "Not in it."
    assert gettext("Saved.") == "Saved."


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        (None, "en"),
        ("de", "de"),
        ("de-CH, en;q=0.5", "de"),
        ("en-GB, de;q=0.9", "en"),
        ("fr, de;q=0.8, en;q=0.9", "en"),
        ("fr;q=1.0, de;q=0.8", "de"),
        ("de;q=0, en", "en"),
        ("pt-BR", "pt-br"),
        ("*", "en"),
        ("de;q=x, ,;;q=,🦉", "en"),
        ("nan;q=nan, ../../etc", "en"),
    ],
)
def test_the_language_is_the_best_that_there_is(accepted: str | None, chosen: str, tmp_path: Path) -> None:
    write_catalogue(tmp_path, "de", {})
    write_catalogue(tmp_path, "pt_BR", {})
    with speaking(accepted, tmp_path):
        assert language() == chosen


def test_a_page_names_its_language_and_numbers_its_days_in_it(tmp_path: Path) -> None:
    write_catalogue(tmp_path, "x-brackets", bracketed())
    with speaking("x-brackets", tmp_path):
        answer = page("sign_in.html", None, is_staff=False, by_provider=False)
        day = ENVIRONMENT.from_string("{{ at | day }}").render(zone=UTC, at=datetime(2026, 9, 2, tzinfo=UTC))
    assert answer.headers["Content-Language"] == "x-brackets"
    assert '<html lang="x-brackets">' in bytes(answer.body).decode()
    assert "⟦Sign in first⟧" in bytes(answer.body).decode()
    assert day == "⟦2 ⟦September⟧ 2026⟧"


@pytest.mark.parametrize(
    ("name", "content"),
    [("de/pages.mo", b""), ("de/LC_MESSAGES/pages.mo", b"no catalogue"), ("de/LC_MESSAGES/pages.mo", b"")],
    ids=["elsewhere", "of something else", "empty"],
)
def test_a_folder_without_a_catalogue_that_can_be_read_is_refused_at_start(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(SettingsError, match="AFTERTURN_PAGES_CATALOGUES"):
        load_catalogues(tmp_path)


def test_without_a_folder_our_own_catalogues_are_enough() -> None:
    load_catalogues(None)
