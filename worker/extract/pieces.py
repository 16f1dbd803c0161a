"""The pieces of an utterance that may be told each by itself."""

from __future__ import annotations

import re
from typing import Final

from policies.language.clauses import is_not_vouched_for
from policies.language.splitting import statements_in, without_request
from policies.language.tellable import may_be_told
from worker.extract.utterances import Utterance, with_part

_TAKEN_BACK: Final = re.compile(
    r"\b(?:no no|no wait|wait no|i mean(?:t)?|scratch that|sorry,? i meant|correction|make that)\b", re.IGNORECASE
)
"""Where something is put right that was said just before: "scratch that"."""


def told_of(utterance: Utterance) -> Utterance:
    """Return an utterance without the request that ends it."""
    if utterance.part is None:
        return utterance
    statement = without_request(utterance.part)
    return utterance if statement is utterance.part else with_part(utterance, statement)


def pieces_of(utterance: Utterance) -> list[Utterance]:
    """Return the statements of an utterance, where it may be taken apart; otherwise the whole."""
    if (
        utterance.part is None
        or utterance.of_others
        or utterance.asks
        or not may_be_told(utterance.part)
        or is_not_vouched_for(utterance.part)
        or is_taken_back(utterance)
    ):
        return [utterance]
    pieces = [with_part(utterance, piece) for piece in statements_in(utterance.part)]
    return pieces if len(pieces) > 1 else [utterance]


def is_taken_back(utterance: Utterance) -> bool:
    """Return whether a part of an utterance puts right what it says before."""
    return _TAKEN_BACK.search(utterance.text) is not None
