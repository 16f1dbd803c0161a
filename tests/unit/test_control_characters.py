"""What users typed commands no terminal, whatever shows it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from recall.excerpt_lines import as_data
from schema.control_characters import CONTROL_CHARACTERS, escaped_in_json

ANYTHING = st.text(st.characters(exclude_categories=["Cs"]))


@given(ANYTHING)
def test_escaped_json_has_none_and_says_the_same(said: str) -> None:
    line = escaped_in_json(json.dumps(said, ensure_ascii=False))
    assert not CONTROL_CHARACTERS.search(line)
    assert json.loads(line) == said


@given(ANYTHING)
def test_a_line_of_a_context_block_has_none(said: str) -> None:
    assert not CONTROL_CHARACTERS.search(as_data(said))


def test_the_words_beside_them_stay() -> None:
    assert as_data("sees\x1b[2J a \u202elion\n of a \x9bkind") == "sees[2J a lion of a kind"
