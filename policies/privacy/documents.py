"""Screening of documents: secrets masked, and whether it has instructions to a machine planted in it.

A document is no utterance: a textbook orders its reader about on every page, and a story has people who do. So one sign
of an instruction is none here: it takes two different ones within a few sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from policies.privacy import planted
from policies.privacy.screen import screen
from policies.topics import is_about
from schema import Policy, Verdict

_MASK: Final = "[masked]"
_WINDOW_CHARS: Final = 600
"""Within so many characters signs count together."""
_SIGNS: Final = frozenset(["override", "persona", "exfiltration", "addressed_to_a_machine", "role_tag", "disguised"])
_OF_A_MACHINE: Final = frozenset(["override", "addressed_to_a_machine"])
_LIKELY: Final = "order_to_memory"
"""The sign that the head finds a sentence planted; beside those of a machine only, for stories have orders, too."""
_BY_ITSELF: Final = frozenset(["hidden_characters"])
_PARAGRAPH_END: Final = re.compile(r"\n[^\S\n]*\n\s*")
"""A blank line: "one.\\n\\ntwo"."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
"""Between two sentences: "One. Two"."""
_MASKED_AT_ONCE: Final = 4_000


@dataclass(frozen=True, slots=True)
class DocumentScreening:
    """The text of a document that may be kept. `pages` are where its pages begin in `text`; `masked` and `planted` name
    rules, never what they matched, and `on_blocked_topic` says that none of it may be kept."""

    text: str
    pages: tuple[int, ...]
    masked: tuple[str, ...]
    planted: tuple[str, ...]
    on_blocked_topic: bool


def screen_document(
    text: str, pages: Sequence[int], policy: Policy, *, title: str = "", blocked_topics: Sequence[str] = ()
) -> DocumentScreening:
    """Return what may be kept of a document, and what a person must look at first. A title counts with the text.

    Personal identifiers are masked or kept as the policy says; where it says to drop what has one, they are masked: of
    a story nothing but the identifier is dropped.
    """
    if is_about(f"{title}.\n{text}", blocked_topics):
        return DocumentScreening("", (), (), (), on_blocked_topic=True)
    masking = _masking(policy)
    masked: dict[str, None] = {}
    kept: list[str] = []
    begins: list[int] = []
    length = 0
    for start, end in pairwise((*(pages or (0,)), len(text))):
        begins.append(length)
        for part in _passages(text[start:end]):
            screening = screen(part, masking)
            if screening.verdict in {Verdict.REDACT, Verdict.REFUSE} or screening.text != part:
                masked |= dict.fromkeys(reason for reason in screening.reasons if reason not in _SIGNS)
            kept.append(screening.text if screening.verdict is not Verdict.REFUSE else _MASK)
            length += len(kept[-1])
    signs = tuple(dict.fromkeys(sign for part in (title, text) for sign in _planted(part)))
    return DocumentScreening("".join(kept), tuple(begins) if pages else (), tuple(masked), signs, False)


def masked_beside(text: str, policy: Policy) -> str:
    """Return what may be kept of what stands beside a document's content, its title or where it came from: lists show
    it before a worker has read the document."""
    screening = screen(text, _masking(policy))
    return _MASK if screening.verdict is Verdict.REFUSE else screening.text


def _masking(policy: Policy) -> Policy:
    drops = policy.personal_identifiers == "drop"
    return policy.model_copy(update={"personal_identifiers": "mask"}) if drops else policy


def planted_in(window: str) -> frozenset[str]:
    """Return the signs by which a few sentences are an instruction to a machine; none where there are not enough."""
    signs = frozenset(planted.find(window))
    if signs & _BY_ITSELF:
        return signs & (_BY_ITSELF | _SIGNS)
    signs &= _SIGNS
    if signs & _OF_A_MACHINE and any(map(planted.is_likely, _SENTENCE_END.split(window))):
        signs |= {_LIKELY}
    return signs if len(signs) > 1 else frozenset()


def _planted(text: str) -> Iterator[str]:
    for paragraph in _PARAGRAPH_END.split(text):
        for window in _windows(paragraph):
            yield from sorted(planted_in(window))


def _windows(paragraph: str) -> Iterator[str]:
    """Yield sentences of a paragraph together, as many as are near each other; those at an edge come twice."""
    window: list[str] = []
    for sentence in _SENTENCE_END.split(paragraph):
        if window and sum(map(len, window)) + len(sentence) > _WINDOW_CHARS:
            yield " ".join(window)
            window = window[-1:]
        window.append(sentence)
    if any(sentence.strip() for sentence in window):
        yield " ".join(window)


def _passages(text: str) -> Iterator[str]:
    """Yield the text in parts that end between paragraphs, so that a secret is in one of them whole."""
    start = 0
    for end in [*(match.end() for match in _PARAGRAPH_END.finditer(text)), len(text)]:
        if end - start >= _MASKED_AT_ONCE or end == len(text):
            yield text[start:end]
            start = end
