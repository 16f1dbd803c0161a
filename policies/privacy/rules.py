"""Rules on what must not be kept of a text, with names, and the one engine that runs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import Final, Literal

_WINDOW_CHARS: Final = 96
"""How much of a text, past the farthest place where a value may begin, a rule reads."""
_LONGEST_WORD: Final = 256
_SENTENCE_END: Final = re.compile(r"[.!](?=\s)|\n\s*\n")
"""The end of a sentence or a paragraph: "Done. Next"."""
_DIGIT: Final = re.compile(r"\d")
"""A digit: "7"."""
_RUN: Final = re.compile(r"[^\W_]+")
"""Letters and digits without a gap: "iban"."""
_SAME_LETTERS: Final = str.maketrans("ıſ", "is")
"""Letters that `re.IGNORECASE` takes for others and `str.lower` does not."""
_JOINTS: Final = str.maketrans("_-", "  ")
_DENSE: Final = 0x600
"""From this character on are the scripts without spaces between words."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A span of a text that must not be kept. `point` says that its sentence is about nothing else."""

    rule: str
    start: int
    end: int
    placeholder: str
    point: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A shape of what must not be kept, and the words that tell it from other things of that shape.

    Without `labels` the shape alone tells. With labels it must follow one of them: within `reach` characters of the
    same sentence, or, where `gap` is a pattern, right after what that matches. A rule that looks `back` has the value
    before the label and the gap between them. Of what has the shape its group `value` is masked, or all of it where
    that took no part. `unless` are words that make a label another thing when they stand right before it ("zip code").
    `examples` are found by the rule, `counter` is left alone by all rules.
    """

    name: str
    shape: re.Pattern[str]
    examples: tuple[str, str]
    counter: str
    placeholder: str = "[secret]"
    labels: Sequence[str] = ()
    gap: re.Pattern[str] | None = None
    reach: int = 40
    look: Literal["ahead", "back"] = "ahead"
    unless: Sequence[str] = ()
    check: Callable[[str], bool] | None = None
    check_around: Callable[[str, int, int], bool] | None = None
    point: bool = False
    numeric: bool = False
    first_runs: frozenset[str] = field(init=False)
    """The runs of letters and digits that the labels begin with which stand as whole words."""
    spaced_labels: tuple[str, ...] = field(init=False)
    """The labels with a space for whatever joins their words: `client_secret` is one of "client secret"."""
    dense_labels: tuple[str, ...] = field(init=False)
    """The labels that may stand anywhere."""

    def __post_init__(self) -> None:
        spaced = [label.translate(_SAME_LETTERS) for label in self.labels if ord(label[0]) < _DENSE]
        object.__setattr__(self, "first_runs", frozenset(run[0] for run in map(_RUN.search, spaced) if run))
        object.__setattr__(self, "spaced_labels", tuple(label.translate(_JOINTS) for label in self.labels))
        object.__setattr__(self, "dense_labels", tuple(label for label in self.labels if ord(label[0]) >= _DENSE))

    def find(self, text: str, lower: str, runs: Set[str]) -> Iterator[Finding]:
        """Yield what the rule finds. `lower` is the text in small letters with spaces for joints, and `runs` are its
        `runs_of`. Linear in the length of the text."""
        if not self.labels:
            yield from filter(None, map(self._checked, self.shape.finditer(text)))
        elif self._may_be_labelled(lower, runs):
            labels = [*label_pattern(tuple(self.labels)).finditer(text)]
            for label, following in zip_longest(labels, labels[1:]):
                if not self._is_unmade(text, label.start()):
                    limit = following.end() if following else len(text)
                    finding = next(filter(None, map(self._checked, self._beside(text, label, limit))), None)
                    if finding:
                        yield finding

    def _may_be_labelled(self, lower: str, runs: Set[str]) -> bool:
        # Few texts have the first word of any label, and to look for hundreds of labels in one takes a third of the
        # time of screening it.
        if self.first_runs.isdisjoint(runs) and not any(label in lower for label in self.dense_labels):
            return False
        return any(label in lower for label in self.spaced_labels)

    def _checked(self, match: re.Match[str]) -> Finding | None:
        start, end = match.span("value" if match.groupdict().get("value") else 0)
        if self.check is not None and not self.check(match.string[start:end]):
            return None
        if self.check_around is not None and not self.check_around(match.string, start, end):
            return None
        return Finding(self.name, start, end, self.placeholder, self.point)

    def _is_unmade(self, text: str, at: int) -> bool:
        return bool(self.unless) and text[max(0, at - 24) : at].lower().rstrip().endswith(tuple(self.unless))

    def _beside(self, text: str, label: re.Match[str], limit: int) -> Iterator[re.Match[str]]:
        """Yield what has the shape and stands where the rule looks for it, nearest first. Each window is bounded, and
        ends with the label that follows, which has its own."""
        if self.look == "back":
            back = self.shape.search(text, max(0, label.start() - self.reach), label.start())
            yield from filter(None, (back,))
            return
        at = label.end()
        if self.gap is not None:
            if gap := self.gap.match(text, at, at + self.reach + _WINDOW_CHARS):
                there = self.shape.match(text, gap.end(), _word_end(text, gap.end() + _WINDOW_CHARS))
                yield from filter(None, (there,))
            return
        farthest = min(at + self.reach, limit)
        for match in self.shape.finditer(text, at, _word_end(text, farthest + _WINDOW_CHARS)):
            if match.start() > farthest or _SENTENCE_END.search(text, at, match.start() + 1):
                return
            yield match


def find_all(text: str, rules: Sequence[Rule]) -> list[Finding]:
    """Return what the rules find in a text; spans may overlap. Linear in the length of the text."""
    lower = text.lower().translate(_JOINTS)
    runs = runs_of(lower)
    has_digit = _DIGIT.search(text) is not None
    return [finding for rule in rules if has_digit or not rule.numeric for finding in rule.find(text, lower, runs)]


def runs_of(lower: str) -> frozenset[str]:
    """Return the letters and digits that stand together in a text in small letters: a label that begins with such a run
    stands only where the text has it."""
    return frozenset(_RUN.findall(lower.translate(_SAME_LETTERS)))


def shape(pattern: str, *, exact: bool = False) -> re.Pattern[str]:
    """Compile a pattern that takes capitals and small letters for the same, unless it is `exact`."""
    return re.compile(pattern, 0 if exact else re.IGNORECASE)


@lru_cache(maxsize=256)
def label_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Compile words, of which any may stand in a text as a whole word; those of scripts without spaces anywhere."""
    ordered = sorted(labels, key=len, reverse=True)
    spaced = "|".join(re.escape(label).replace(r"\ ", r"[ _-]") for label in ordered if ord(label[0]) < _DENSE)
    dense = "|".join(re.escape(label) for label in ordered if ord(label[0]) >= _DENSE)
    whole = rf"(?<![^\W_])(?:{spaced})(?:'s|’s)?(?![^\W_])" if spaced else ""
    return re.compile("|".join(filter(None, (whole, dense))), re.IGNORECASE)


def _word_end(text: str, at: int) -> int:
    """Return the end of the word in which a place lies, so that no window cuts one."""
    end, limit = min(at, len(text)), min(len(text), at + _LONGEST_WORD)
    while end < limit and not text[end].isspace():
        end += 1
    return end
