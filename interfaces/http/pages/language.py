"""In which language a page is: the catalogues of gettext that there are, and the one that a reader's browser asks for.

The texts stand in the code, in English. `locale/pages.pot` lists them all; a catalogue of another language is
`LANGUAGE/LC_MESSAGES/pages.mo` under that folder, or under the one that AFTERTURN_PAGES_CATALOGUES names.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Final

from schema.errors import SettingsError
from schema.settings import variable_of

_CATALOGUES: Final = "*/LC_MESSAGES/pages.mo"
_ENGLISH: Final = "en"
_OURS: Final = Path(__file__).with_name("locale")
_MOST_PREFERRED: Final = 20
"""Languages of a header that are looked at: browsers send a handful."""
_spoken: ContextVar[tuple[str, NullTranslations]] = ContextVar("spoken", default=(_ENGLISH, NullTranslations()))


def gettext(message: str) -> str:
    """Return a text in the language of the page that is being made."""
    return _spoken.get()[1].gettext(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """Return a text about a number of things in the language of the page that is being made."""
    return _spoken.get()[1].ngettext(singular, plural, count)


def marked(message: str) -> str:
    """Return a text as it is, which is to be translated where it is shown: so that the catalogue has it."""
    return message


def language() -> str:
    """Return the code of the language of the page that is being made, as HTML has it."""
    return _spoken.get()[0]


@contextmanager
def speaking(accepted: str | None, folder: Path | None) -> Iterator[None]:
    """Have the pages that are made meanwhile in the language that an Accept-Language header likes best, of those that
    there are; in English where it names none of them. `folder` has catalogues beside ours."""
    catalogues = _catalogues(folder)
    chosen = next(
        (code for code in _preferred_languages(accepted or "") if code == _ENGLISH or code in catalogues), _ENGLISH
    )
    token = _spoken.set((chosen, catalogues.get(chosen, NullTranslations())))
    try:
        yield
    finally:
        _spoken.reset(token)


def load_catalogues(folder: Path | None) -> None:
    """Read the catalogues, so that one that cannot be read, or a folder without any, is told of when a service starts.

    Raises:
        SettingsError: the folder has none, or one that is none.
    """
    try:
        _catalogues(folder)
    except (OSError, ValueError, LookupError, struct.error) as error:
        raise SettingsError(f"{variable_of('pages_catalogues')}: a catalogue cannot be read: {error}") from error
    if folder is not None and not any(folder.glob(_CATALOGUES)):
        raise SettingsError(f"{variable_of('pages_catalogues')}: there is no {_CATALOGUES} under {folder}")


@cache
def _catalogues(folder: Path | None) -> Mapping[str, NullTranslations]:
    """Return the catalogues by their languages, read once a process; `folder` may replace ours."""
    catalogues: dict[str, NullTranslations] = {}
    for where in filter(None, (_OURS, folder)):
        for path in sorted(where.glob(_CATALOGUES)):
            with path.open("rb") as file:
                catalogues[path.parents[1].name.replace("_", "-").lower()] = GNUTranslations(file)
    return catalogues


def _preferred_languages(accepted: str) -> list[str]:
    """Return the languages of an Accept-Language header (RFC 9110, 12.5.4), best first; behind a country's form of a
    language comes the language."""
    weighed: list[tuple[float, str]] = []
    for preference in accepted.split(",")[:_MOST_PREFERRED]:
        code, _, weight = preference.strip().lower().partition(";")
        share = weight.strip().removeprefix("q=") or "1"
        if code and share.replace(".", "", 1).isdecimal() and float(share) > 0:
            weighed.append((float(share), code.strip()))
    best_first = [code for _, code in sorted(weighed, key=lambda weighted: -weighted[0])]
    return [form for code in best_first for form in dict.fromkeys((code, code.partition("-")[0]))]
