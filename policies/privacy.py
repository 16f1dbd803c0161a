"""What may be kept of a text: nothing secret, nothing planted, personal identifiers masked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.schema import MAX_TURN_BYTES, Policy, Screening, Verdict
from policies import credentials, identifiers, planted
from policies.credentials import Finding
from policies.lexicon import word_set

_ROUNDS: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_PLACEHOLDER: Final = re.compile(r"\[[a-z_]{2,12}\]")
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|\n")
_HOLLOW: Final = word_set(
    """account accounts amex an and api are as at bank banking be by called can card cards code credit current
    debit for from has have her here his iban in is it its keep key keys login mastercard me my new no not
    note num number numbers of old on one our password pin please remember routing said save says secret
    sort store that the their there this to token tokens use used user users using value visa was which will
    with would you your"""
)


def screen(text: str, policy: Policy, *, blocked_topics: Sequence[str] = ()) -> Screening:
    """What may be kept of a text.

    REFUSE keeps nothing (`text` is empty): it is on a blocked topic, its point is a secret, or it is longer than a
    turn may be. QUARANTINE holds a text that orders the assistant about instead of telling of the user, with
    secrets masked. REDACT keeps a text in which something is masked by a typed placeholder such as `[email]`: cards
    and keys always, personal identifiers if the policy says so. Screening what may be kept changes nothing.
    Source: DESIGN, sections 2 and 4.9; "Memory System - Mechanics", "User Controls, Privacy, and Governance".
    """
    if len(text) > MAX_TURN_BYTES:
        return Screening(verdict=Verdict.REFUSE, text="", reasons=("too_long",))
    if _on_blocked_topic(text, blocked_topics):
        return Screening(verdict=Verdict.REFUSE, text="", reasons=("blocked_topic",))
    kept, reasons, hollow = _settle(text, policy)
    if hollow:
        return Screening(verdict=Verdict.REFUSE, text="", reasons=reasons)
    orders = tuple(planted.find(kept)) or tuple(planted.find(text))
    if orders:
        return Screening(verdict=Verdict.QUARANTINE, text=kept, reasons=orders + reasons)
    if reasons:
        return Screening(verdict=Verdict.REDACT, text=kept, reasons=reasons)
    return Screening(verdict=Verdict.ALLOW, text=text)


def _settle(text: str, policy: Policy) -> tuple[str, tuple[str, ...], bool]:
    """The text with all masked that must be, by which rules, and whether nothing worth keeping is left.

    Masking one thing can bring two others together, so it goes on until nothing is found any more.
    """
    reasons: dict[str, None] = {}
    for _ in range(_ROUNDS):
        secrets = list(credentials.find(text))
        personal = list(identifiers.find(text)) if policy.mask_personal_identifiers else []
        found = secrets + [p for p in personal if not _covered(p, secrets)]
        if not found:
            return text, tuple(reasons), False
        reasons |= dict.fromkeys(f.rule for f in found)
        masked = _mask(text, [_widened(f, text) if f.point else f for f in found])
        if secrets and _is_hollow(masked):
            return "", tuple(reasons), True
        text = masked
    return "", tuple(reasons), True


def _covered(one: Finding, others: Iterable[Finding]) -> bool:
    return any(other.start < one.end and one.start < other.end for other in others)


def _widened(finding: Finding, text: str) -> Finding:
    """The whole sentence of a finding that is its point."""
    start = max((m.end() for m in _SENTENCE_END.finditer(text, 0, finding.start)), default=0)
    end = _SENTENCE_END.search(text, finding.end)
    return Finding(finding.rule, start, end.end() if end else len(text), finding.placeholder)


def _mask(text: str, found: list[Finding]) -> str:
    parts, at = [], 0
    for finding in sorted(found, key=lambda f: (f.start, -f.end)):
        if finding.end <= at:
            continue
        if finding.start >= at:
            parts.append(text[at : finding.start])
            parts.append(finding.placeholder)
        at = finding.end
    return "".join(parts) + text[at:]


def _is_hollow(masked: str) -> bool:
    """Whether what is left around the masks tells of nothing."""
    words = _WORD.findall(_PLACEHOLDER.sub(" ", masked).lower())
    return sum(word not in _HOLLOW for word in words) < 2


def _on_blocked_topic(text: str, topics: Sequence[str]) -> bool:
    return any(
        re.search(rf"(?<!\w){re.escape(topic.strip())}", text, re.IGNORECASE) for topic in topics if topic.strip()
    )
