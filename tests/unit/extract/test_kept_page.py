"""The page that shows what is kept."""

from __future__ import annotations

from pathlib import Path

from benchmarks.kept_page import page

_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "what-is-kept.md"


def test_the_page_shows_what_the_rules_keep_today() -> None:
    assert _PAGE.read_text(encoding="utf-8") == page(), (
        "run python -m benchmarks.kept_page > docs/reference/what-is-kept.md"
    )
