"""The pages in another language than English: every text that they show comes from the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Final

import httpx
import pytest

from schema import Capability
from tests.e2e.service import Served, served, settings_in
from tests.page_texts import bracketed, messages, write_catalogue

_TAG: Final = re.compile(r"<[^>]*>")
_INNERMOST: Final = re.compile(r"⟦[^⟦⟧]*⟧")
_LONG: Final = 9
"""Letters from which on a text is surely no word that somebody said."""


_CAPABILITIES: Final = frozenset(Capability)
"""What a key may do has one name in every language."""


@pytest.fixture(scope="module")
def abroad(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with a language in which every text stands in brackets."""
    folder: Path = tmp_path_factory.mktemp("abroad")
    write_catalogue(folder, "x-brackets", bracketed())
    settings = settings_in(folder / "data", broker_url).model_copy(update={"pages_catalogues": folder})
    with served(settings) as running:
        yield running


@contextmanager
def visitor(abroad: Served, path: str, user: str) -> Iterator[httpx.Client]:
    with abroad.client(abroad.key()) as backend:
        backend.post("/api/v1/memories/", json={"content": "Zoe plays chess.", "user_id": user})
        link = backend.post(path).json()["url"]
    with httpx.Client(base_url=abroad.url, follow_redirects=True, timeout=30.0) as browser:
        browser.get(link)
        browser.headers["Accept-Language"] = "fr, x-brackets;q=0.9, en;q=0.5"
        yield browser


def untranslated(answer: httpx.Response) -> list[str]:
    """The texts of the catalogue that stand on a page outside of brackets."""
    text = unescape(_TAG.sub("\n", answer.text))
    while _INNERMOST.search(text):
        text = _INNERMOST.sub("", text)
    plain = (one for message in messages() for one in message if "%(" not in one and len(one) >= _LONG)
    plain = (one for one in plain if one not in _CAPABILITIES)
    return sorted({one for one in plain if re.search(rf"\b{re.escape(one)}", text)})


@pytest.mark.long
def test_a_persons_pages_are_wholly_in_the_language_they_like(abroad: Served, user: str) -> None:
    with visitor(abroad, f"/api/v1/subjects/{user}/page-link", user) as me:
        listed = me.get("/me")
        assert "⟦What is known about me⟧" in listed.text
        assert "Zoe plays chess." in listed.text
        [memory] = re.findall(r'href="(/me/memories/[^"]+)"', listed.text)
        [token] = {*re.findall(r'name="form_token" value="([^"]+)"', listed.text)}
        tried = me.post("/try", data={"form_token": token, "said": "I moved to Porto. My password is hunter2-Xy7!"})
        refused = me.post("/me/preferences/topics", data={"form_token": token, "name": "", "blocked": "true"})
        pages = [listed, tried, refused, me.get(f"{memory}?done=edit")]
        pages += [
            me.get(path)
            for path in (
                *("/me?ask=chess", "/me?type=episodic", "/me?since=yesterday", "/me/graph", "/me/reviews"),
                *("/me/preferences", "/me/documents", "/try?question=chess", "/me/memories/none"),
            )
        ]
        assert [(str(page.url), untranslated(page)) for page in pages if untranslated(page)] == []
        assert {page.headers["Content-Language"] for page in pages} == {"x-brackets"}
        assert "Accept-Language" in listed.headers["Vary"]


@pytest.mark.long
def test_the_pages_for_staff_are_too(abroad: Served, user: str) -> None:
    with visitor(abroad, "/api/v1/staff-link?name=ann", user) as ann:
        lists = (
            "",
            "/audit",
            "/reviews",
            "/holds",
            "/erasures",
            "/dead-letters",
            "/keys",
            "/members",
            "/nights",
            "/costs",
        )
        pages = [ann.get(f"/admin{path}") for path in (*lists, f"/subjects/{user}", f"/subjects/{user}/preferences")]
        assert "⟦Subjects⟧" in pages[0].text
        assert [(str(page.url), untranslated(page)) for page in pages if untranslated(page)] == []
