"""The words of some memories as arrays, never changed: threads share them without a lock."""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schema import Labels
from stores.catalog.summaries import Summary
from stores.fulltext.terms import terms_of

Group = Labels | str
"""The key to who may see a summary: a memory's labels, or of which document it is a chunk."""
_BYTES_A_SUMMARY = 710
"""About what a summary takes here beside its text and its terms (measured with tracemalloc: 860 with a dozen words)."""


@dataclass(frozen=True)
class Postings:
    """Numbers of each term in each of some memories.

    The memories with the code-th term are `holders[starts[code] : starts[code + 1]]`, by their places, and `counts`
    beside it says how often. `alive` is False where a later block holds the memory anew, or it is gone.
    """

    lengths: NDArray[np.int32]
    codes: dict[str, int]
    starts: NDArray[np.int64]
    holders: NDArray[np.int32]
    counts: NDArray[np.int32]
    alive: NDArray[np.bool_]
    summaries: tuple[Summary, ...]
    places: dict[uuid.UUID, int]
    openings: Counter[tuple[Group, str]]
    """With which words the summaries of each group begin, dead ones too."""
    groups: dict[Group, int]
    group_of: NDArray[np.int32]
    """Of which of the groups each summary is."""
    numbers: NDArray[np.uint64]
    """The ids as two halves of a number each, shape (n, 2): numbers order as ids do."""

    @classmethod
    def of(cls, summaries: Sequence[Summary]) -> Postings:
        """Return the words of these summaries; those that may not be found are left out."""
        live = tuple(summary for summary in summaries if summary.live)
        codes: dict[str, int] = {}
        groups: dict[Group, int] = {}
        coded = [[codes.setdefault(term, len(codes)) for term in terms_of(summary.text)] for summary in live]
        lengths = np.array([len(terms) for terms in coded], dtype=np.int32)
        terms = np.array([code for summary_codes in coded for code in summary_codes], dtype=np.int64)
        places = np.repeat(np.arange(len(live), dtype=np.int64), lengths)
        # One number for a term in a memory, so that sorting puts a term's memories side by side.
        pairs, counts = np.unique(terms * max(1, len(live)) + places, return_counts=True)
        of_terms, holders = np.divmod(pairs, max(1, len(live)))
        return cls(
            lengths=lengths,
            codes=codes,
            starts=np.searchsorted(of_terms, np.arange(len(codes) + 1)),
            holders=holders.astype(np.int32),
            counts=counts.astype(np.int32),
            alive=np.ones(len(live), dtype=np.bool_),
            summaries=live,
            places={summary.memory_id: index for index, summary in enumerate(live)},
            openings=Counter((summary.group, _opening(summary.text)) for summary in live),
            group_of=np.array([groups.setdefault(summary.group, len(groups)) for summary in live], dtype=np.int32),
            groups=groups,
            numbers=np.frombuffer(b"".join(summary.memory_id.bytes for summary in live), dtype=">u8")
            .astype(np.uint64)
            .reshape(-1, 2),
        )

    @property
    def size(self) -> int:
        """Return about how many bytes it takes."""
        words = self.holders.nbytes + self.counts.nbytes
        return len(self.summaries) * _BYTES_A_SUMMARY + words + sum(len(summary.text) for summary in self.summaries)

    def without(self, ids: frozenset[uuid.UUID]) -> Postings:
        """Return it with these memories dead."""
        dead = [self.places[id_] for id_ in ids if id_ in self.places]
        if not dead:
            return self
        alive = self.alive.copy()
        alive[dead] = False
        return replace(self, alive=alive)

    def of_groups(self, is_wanted: Callable[[Group], bool]) -> Postings:
        """Return it with the summaries of all other groups dead."""
        wanted = {group: code for group, code in self.groups.items() if is_wanted(group)}
        if len(wanted) == len(self.groups):
            return self
        return replace(
            self,
            alive=self.alive & np.isin(self.group_of, list(wanted.values())),
            groups=wanted,
            openings=Counter({key: count for key, count in self.openings.items() if key[0] in wanted}),
        )

    def living(self) -> list[Summary]:
        return [self.summaries[index] for index in np.flatnonzero(self.alive)]

    def having(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the places of the living memories that have a term, and how often each has it."""
        code = self.codes.get(term)
        if code is None:
            return self.holders[:0], self.counts[:0]
        part = slice(self.starts[code], self.starts[code + 1])
        living = self.alive[self.holders[part]]
        return self.holders[part][living], self.counts[part][living]


@dataclass(frozen=True, slots=True)
class Compared:
    """A memory that a query was compared with: its BM25 score, 0 where it is not among the best, and the share of the
    query's terms that it has, 0 to 1, each term weighing what BM25 gives its rarity.

    A term that no memory has is the rarest of all: a question about what is not known has many of them.
    """

    summary: Summary
    score: float
    covered: float


def compare(
    blocks: Iterable[Postings],
    terms: Iterable[str],
    limit: int,
    also: Iterable[uuid.UUID] = (),
    *,
    saturation: float,
    length_weight: float,
) -> list[Compared]:
    """Return the memories of some blocks with the most of the terms by BM25, at most `limit`, best first, and behind
    them those of the others that are named in `also`.

    How rare a term is and how long a memory is on average is counted over just these blocks. BM25 as in Robertson and
    Zaragoza, "The Probabilistic Relevance Framework" (2009), with the +1 that keeps every term's weight above 0.
    """
    living = [block for block in blocks if block.alive.any()]
    total = sum(int(block.alive.sum()) for block in living)
    if not total:
        return []
    mean = max(1.0, sum(int(block.lengths[block.alive].sum()) for block in living) / total)
    scores = [np.zeros(len(block.summaries), dtype=np.float64) for block in living]
    shares = [np.zeros(len(block.summaries), dtype=np.float64) for block in living]
    whole = 0.0
    for term in sorted(set(terms)):
        holdings = [block.having(term) for block in living]
        weight = _rarity(sum(len(places) for places, _ in holdings), total)
        whole += weight
        for block, score, share, (places, counts) in zip(living, scores, shares, holdings, strict=True):
            longer = 1.0 - length_weight + length_weight * block.lengths[places] / mean
            score[places] += weight * counts * (saturation + 1.0) / (counts + saturation * longer)
            share[places] += weight
    ranked = [
        (float(-score[index]), block.summaries[index].memory_id, number, int(index))
        for number, (block, score) in enumerate(zip(living, scores, strict=True))
        for index in _highest(score, block.numbers, limit)
    ]
    best = {(number, index): -negative for negative, _, number, index in sorted(ranked)[:limit]}
    named = ((number, block.places.get(id_)) for id_ in also for number, block in enumerate(living))
    found = best | {
        (number, index): best.get((number, index), 0.0)
        for number, index in named
        if index is not None and living[number].alive[index]
    }
    return [
        Compared(living[number].summaries[index], score, float(shares[number][index]) / whole if whole else 0.0)
        for (number, index), score in found.items()
    ]


def _rarity(holders: int, total: int) -> float:
    return math.log(1.0 + (total - holders + 0.5) / (holders + 0.5))


def _opening(summary: str) -> str:
    """Return the word or two with which a summary names whom it is about: "Maya", "The user"."""
    first, _, rest = summary.partition(" ")
    if first == "The":
        return f"The {rest.partition(' ')[0]}".removesuffix("'s").rstrip(":,")
    return first.removesuffix("'s").rstrip(":,")


def _highest(scores: NDArray[np.float64], numbers: NDArray[np.uint64], limit: int) -> NDArray[np.intp]:
    """Return the places of the `limit` highest scores above 0; of equal ones those with the lowest numbers. A word that
    thousands of memories have makes thousands of equal scores, which must not become objects of Python."""
    scored = np.flatnonzero(scores > 0)
    if len(scored) <= limit:
        return scored
    if limit <= 0:
        return scored[:0]
    last = np.partition(scores[scored], len(scored) - limit)[len(scored) - limit]
    above, equal = scored[scores[scored] > last], scored[scores[scored] == last]
    order = np.lexsort((numbers[equal, 1], numbers[equal, 0]))
    return np.concatenate([above, equal[order[: limit - len(above)]]])
