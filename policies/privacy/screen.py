"""Screening of texts, for what may be kept: nothing secret, nothing planted, personal identifiers masked."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from policies.language.lexicon import word_set
from policies.language.sentences import words
from policies.language.spans import WRITTEN_DAY
from policies.language.wording import contents, read
from policies.privacy import addresses, identifiers, planted, secrets, tables, told_secrets
from policies.privacy import seed_phrases as seeds
from policies.privacy.rules import Finding, find_all
from policies.privacy.unicode_fold import Folded, folded
from policies.topics import is_about
from schema import MAX_TURN_BYTES, Policy, Screening, Verdict
from schema.policy import Handling

_PERSONAL: Final = (*identifiers.RULES, *addresses.RULES)
_ROUNDS: Final = 4
_REMEMBERED_CHARS: Final = 2_000
"""Longer texts are screened each time that they come, so that what is remembered of texts stays small."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
"""A word of two letters or more: "is"."""
_PLACEHOLDER: Final = re.compile(r"\[[a-z_]{2,12}\]")
"""The placeholder of what was masked: "[email]"."""
_SECRET: Final = "[secret]"
_BETWEEN_WORDS: Final = re.compile(r"[_.\-]+|(?<=[a-z0-9])(?=[A-Z])")
"""The places between the words of a name that a program gives: "db_user"."""
_NAME_OF_SECRET: Final = re.compile(
    r"\b(?:password|passwd|passphrase|pwd|secret|api ?key|(?:private|secret|signing) key|credentials?|"
    r"(?:access|auth|refresh|bearer|api) token): \Z",
    re.IGNORECASE,
)
"""A name whose value is a secret whatever it looks like: "client secret: "."""
_SHORTEST_NAMED: Final = 3
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|\n")
"""The end of a sentence or a line: "Done. Next"."""
_CLAUSE_BEGINS: Final = (
    r"(?:[,;]\s|[,;]?\s(?:and|but|so)\s)(?=(?:i|we{name})\b)|"
    r"\s(?:and|but|so)\s(?=(?:my|our|their|the)\b)|"
    r"[,;]\s(?=(?:my|our|their)\s(?:[\w'’-]{{1,24}}\s){{1,3}}(?:is|are|was|were|has|have)\b)"
)
"""Between the clauses of a sentence: "my PIN is 4821, I live in Rome"."""
_RESOLVED_DAY: Final = re.compile(WRITTEN_DAY)
"""A date, of which no secret is made: "13 August 2026"."""
_LONGEST_PARTED: Final = 400
"""Characters of a sentence that is read clause by clause; a longer one is no talk."""
_HOLLOW: Final = word_set(
    """account accounts amex an and api are as at authorization bank banking be bearer by called can card cards
    code credit current debit for from has have her here his iban in is it its keep key keys login
    mastercard me my new no not note num number numbers of old on one our password pin please remember
    routing said save says secret sort store that the their there this to token tokens use used user users
    using value visa was which will with would you your"""
)


_OF_IDENTIFIERS: Final = contents(
    words(
        "address addresses e email emails mail phone telephone mobile cell number numbers contact contacts home house "
        "flat street road place live lives living stay staying reach reached reachable write call ring text zip code "
        "postcode passport licence license id account plate reg registration born birth date new old work other called"
    )
)
"""Words with which somebody says what an identifier is, and nothing else."""


def screen(
    text: str,
    policy: Policy,
    *,
    blocked_topics: Sequence[str] = (),
    labels: Sequence[str] = (),
    is_summary: bool = False,
    name: str = "",
) -> Screening:
    """Return what may be kept of a text. `name` is what the user is called, which is no secret though it may look like
    a password ("maya92").

    REFUSE keeps nothing (`text` is empty): it or one of its labels is on a blocked topic, its point is a secret, or it
    is longer than a turn may be. QUARANTINE holds a text that orders the assistant about instead of telling of the
    user, with secrets masked; a summary is read for orders as its user would have said it. REDACT keeps a text in
    which something is masked by a typed placeholder such as `[email]`: cards and keys always, personal identifiers if
    the policy says so, which may refuse them instead.
    Screening what may be kept changes nothing.
    Source: "Memory System - Mechanics", "User Controls, Privacy, and Governance".
    """
    if len(text) > MAX_TURN_BYTES:
        return _refused("too_long")
    if is_about(text, blocked_topics, labels):
        return _refused("blocked_topic")
    look = _looked_at if len(text) <= _REMEMBERED_CHARS else _looked_at.__wrapped__
    kept, reasons, orders, personal, hollow = look(text, policy.personal_identifiers, is_summary, name)
    if hollow:
        return _refused(*reasons)
    if personal and not orders and policy.personal_identifiers == "drop":
        return _refused(*reasons)
    verdict = Verdict.QUARANTINE if orders else Verdict.REDACT if reasons else Verdict.ALLOW
    return Screening(verdict=verdict, text=kept, reasons=orders + reasons)


def masked_in(text: str, policy: Policy) -> tuple[str, ...]:
    """Return the secrets that a text tells, and the personal identifiers that the policy masks, as they stand in it."""
    seen = folded(text)
    hidden, personal = _found(seen.text)
    shown = hidden if policy.personal_identifiers == "keep" else hidden + personal
    return tuple(text[finding.start : finding.end] for finding in (_as_written(raw, seen) for raw in shown))


def is_secret_by_name(name: str, value: str, policy: Policy) -> bool:
    """Return whether a program's value under a name, such as `cardPin`, is what the rules hide behind the words of it:
    "card pin: 4821". The finder of what is told in free words has learned of sentences, and is not asked."""
    said = folded(f"{_BETWEEN_WORDS.sub(' ', name)}: ").text
    if _NAME_OF_SECRET.search(said) and len(value) >= _SHORTEST_NAMED:
        return True
    rules = secrets.RULES if policy.personal_identifiers == "keep" else (*secrets.RULES, *_PERSONAL)
    return any(finding.end > len(said) for finding in find_all(said + folded(value).text, rules))


def tells_only_masks(summary: str, name: str | None) -> bool:
    """Return whether all that a summary tells is masked: "Maya's email is [email].". `name` is what the user is
    called."""
    shown, masks = _PLACEHOLDER.subn(" ", summary)
    if not masks:
        return False
    wording = read(shown, name or "")
    return not wording.quantities and not wording.words - _OF_IDENTIFIERS - wording.bearers


def _refused(*reasons: str) -> Screening:
    return Screening(verdict=Verdict.REFUSE, text="", reasons=reasons)


@lru_cache(maxsize=256)
def _looked_at(
    text: str, identifiers: Handling, is_summary: bool, name: str
) -> tuple[str, tuple[str, ...], tuple[str, ...], bool, bool]:
    """Return what `_settle` does, and by which rules the text orders the assistant about.

    Of the texts of a batch half come a second or third time: what the user said is screened as a message, as what a
    question may be kept of, and as a source.
    """
    kept, reasons, personal, hollow = _settle(text, identifiers, name)
    versions = () if hollow else dict.fromkeys((text, kept))
    readings = (planted.as_said(version) if is_summary else version for version in versions)
    orders = next(filter(None, (tuple(planted.find(version)) for version in readings)), ())
    return kept, reasons, orders, personal, hollow


def _settle(text: str, identifiers: Handling, name: str) -> tuple[str, tuple[str, ...], bool, bool]:
    """Return the text with all masked that must be, by which rules, whether personal identifiers are among it, and
    whether nothing worth keeping is left.

    Masking one thing can bring two others together, so it goes on until nothing is found any more.
    """
    reasons: dict[str, None] = {}
    identified = False
    for _ in range(_ROUNDS):
        seen = folded(text)
        hidden, named = _found(seen.text, name)
        personal = [] if identifiers == "keep" else named
        findings = [_as_written(finding, seen) for finding in hidden + _apart_from(hidden, personal)]
        if not findings:
            return text, tuple(reasons), identified, False
        masked, rules = _mask(text, _with_whole_clauses(findings, text, name))
        reasons |= dict.fromkeys(rules)
        if len(masked) > MAX_TURN_BYTES or (hidden and _is_hollow(masked)):
            return "", tuple(reasons), identified, True
        identified = identified or bool(personal)
        text = masked
    return "", tuple(reasons), identified, True


def _found(text: str, name: str = "") -> tuple[list[Finding], list[Finding]]:
    """Return the secrets and the personal identifiers of a text. What a rule knows by name is called by it."""
    hidden = [*find_all(text, secrets.RULES), *seeds.find(text), *tables.find(text)]
    personal = find_all(text, _PERSONAL)
    spoken = [*told_secrets.find(text, words=not hidden and _SECRET not in text, name=name)]
    return hidden + _apart_from(hidden + personal, spoken), personal


def _as_written(finding: Finding, seen: Folded) -> Finding:
    start, end = seen.span(finding.start, finding.end)
    return replace(finding, start=start, end=end)


def _apart_from(hidden: list[Finding], others: list[Finding]) -> list[Finding]:
    """Return what no secret overlaps: a card's digits are no phone number."""
    taken = sorted((f.start, f.end) for f in hidden)
    furthest = list(accumulate((end for _, end in taken), max))
    starts = [start for start, _ in taken]

    def is_apart(finding: Finding) -> bool:
        before = bisect_left(starts, finding.end)
        return before == 0 or furthest[before - 1] <= finding.start

    return [finding for finding in others if is_apart(finding)]


def _with_whole_clauses(findings: list[Finding], text: str, name: str) -> list[Finding]:
    """Return the findings, those that are the point of their sentence widened to all of it but for clauses beside them
    in which nothing could be a secret: "the gate's code is 4471 and the bins go out on Tuesday"."""
    if not any(finding.point for finding in findings):
        return findings
    called = f"|{re.escape(name)}" if name else ""
    clause_begins = re.compile(_CLAUSE_BEGINS.format(name=called), re.IGNORECASE)
    ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    return [
        _widened(f, ends[bisect_right(ends, f.start) - 1], ends[bisect_left(ends, f.end)], text, clause_begins)
        if f.point
        else f
        for f in findings
    ]


def _widened(finding: Finding, start: int, end: int, text: str, clause_begins: re.Pattern[str]) -> Finding:
    """Return a finding widened to its sentence, from `start` to `end`, but for the clauses at its ends that neither it
    stands in nor a secret could."""
    joints = list(clause_begins.finditer(text, start, end)) if end - start <= _LONGEST_PARTED else []
    for joint in joints:
        if joint.end() <= finding.start and _is_plain(text[start : joint.start()]):
            start = joint.end()
    for joint in reversed(joints):
        if joint.start() >= finding.end and _is_plain(text[joint.end() : end]):
            end = joint.start()
    return replace(finding, start=start, end=end)


def _is_plain(clause: str) -> bool:
    """Return whether nothing in a clause could be a secret."""
    return not told_secrets.is_odd(_RESOLVED_DAY.sub("", clause))


def _mask(text: str, findings: list[Finding]) -> tuple[str, list[str]]:
    """Return the text with all findings masked, and the rules that had a part in it."""
    pieces, rules, at = [], [], 0
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if finding.end <= at:
            continue
        if finding.start >= at:
            pieces += [text[at : finding.start], finding.placeholder]
        rules.append(finding.rule)
        at = finding.end
    return "".join(pieces) + text[at:], rules


def _is_hollow(masked: str) -> bool:
    """Return whether what is left around the masks tells of nothing."""
    words = _WORD.findall(_PLACEHOLDER.sub(" ", masked).lower())
    return sum(word not in _HOLLOW for word in words) < 2
