"""Dates in other languages than English, seen from Wednesday 18 November 2026."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from policies.language.dates_elsewhere import notes_elsewhere

WEDNESDAY = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "said", "words", "meant"),
    [
        ("es", "Mañana firmo la escritura", "Mañana", "19 November 2026"),
        ("es", "Pasado mañana vuelo a Lima", "Pasado mañana", "20 November 2026"),
        ("es", "Nos vemos el lunes que viene", "el lunes que viene", "23 November 2026"),
        ("de", "Voraussichtlich bis Ende des Monats", "bis Ende des Monats", "30 November 2026"),
        ("de", "Wir ziehen nächste Woche um", "nächste Woche", "the week of 23 November 2026"),
        ("fr", "Chef d'unité à partir de janvier", "à partir de janvier", "January 2027"),
        ("fr", "On part après-demain", "après-demain", "20 November 2026"),
        ("pl", "Egzamin mam w przyszłą środę", "w przyszłą środę", "25 November 2026"),
        ("pl", "Wczoraj byłem u lekarza", "Wczoraj", "17 November 2026"),
        ("zh", "面试改到下周三了", "下周三", "25 November 2026"),
        ("zh", "我明天出差", "明天", "19 November 2026"),
    ],
)
def test_a_date_that_needs_no_tense_is_told_beside_its_words(language: str, said: str, words: str, meant: str) -> None:
    (note,) = notes_elsewhere(said, WEDNESDAY, language)
    assert (said[note.start : note.end], note.text, note.whole) == (words, meant, False)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("es", "Trabajo por la mañana"),
        ("es", "Esta mañana llovía"),
        ("de", "Guten Morgen"),
        ("de", "Ich war heute morgen beim Arzt"),
        ("fr", "Je nage le mardi"),
        ("pl", "Biegam w środy"),
        ("pl", "Pracuję tu od stycznia"),
        ("zh", "我周三打球"),
        ("und", "domani parto"),
    ],
)
def test_what_is_no_date_or_may_be_of_any_week_has_none(language: str, said: str) -> None:
    assert notes_elsewhere(said, WEDNESDAY, language) == ()
