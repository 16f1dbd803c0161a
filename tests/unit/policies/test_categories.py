"""Which category is meant."""

from __future__ import annotations

import pytest

from policies.categories import normalised_category
from schema.settings import Settings

CATEGORIES = Settings.model_fields["categories"].get_default()


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("finance", "Finance"),
        ("FINANCE", "Finance"),
        ("  goals ", "Goals"),
        ("conversation summary", "Conversation_Summary"),
        ("Conversation-Summary", "Conversation_Summary"),
        ("conversation_summary", "Conversation_Summary"),
    ],
)
def test_a_category_is_meant_however_it_is_written(given: str, meant: str) -> None:
    assert normalised_category(given, CATEGORIES) == meant


@pytest.mark.parametrize("given", [None, "", "  ", "music", "Fin", "Other"])
def test_what_is_no_category_counts_as_the_last_one(given: str | None) -> None:
    assert normalised_category(given, CATEGORIES) == "Other"


def test_a_category_is_spelled_as_the_setting_spells_it() -> None:
    assert normalised_category("it & tools", ("HR", "IT & Tools", "misc")) == "IT & Tools"
    assert normalised_category("travel", ("HR", "misc")) == "misc"


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_category_stays_what_it_is(category: str) -> None:
    assert normalised_category(category, CATEGORIES) == category
