"""The words of subjects' memories and documents, held in memory and kept in step with the catalog."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from schema import Labels, Policy, Seen, Subject
from stores.catalog.summaries import Summaries
from stores.fulltext.postings import Compared, Group, Postings, compare
from stores.fulltext.terms import terms_of
from stores.lru import ByteLRU

CACHE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class _Snapshot:
    """A subject's words as they were at a revision, in blocks that are joined as they grow, so that a write costs
    what is new and not what is there."""

    revision: int
    blocks: tuple[Postings, ...]
    documents: Mapping[str, Labels]
    """Who may see the documents whose chunks these are."""

    @property
    def size(self) -> int:
        return sum(block.size for block in self.blocks)

    def after(self, read: Summaries) -> _Snapshot:
        again = frozenset(summary.memory_id for summary in read.summaries)
        if read.living is not None:
            again |= frozenset(id_ for block in self.blocks for id_ in block.places if id_ not in read.living)
        blocks = [*(block.without(again) for block in self.blocks), Postings.of(read.summaries)]
        while len(blocks) > 1 and len(blocks[-2].summaries) <= 2 * len(blocks[-1].summaries):
            later = blocks.pop()
            blocks.append(Postings.of([*blocks.pop().living(), *later.living()]))
        return _Snapshot(read.revision, tuple(blocks), read.documents)


@dataclass(frozen=True)
class Words:
    """The words of some subjects' active memories."""

    blocks: tuple[Postings, ...]

    def compare(self, query: str, limit: int, policy: Policy, also: Iterable[uuid.UUID] = ()) -> list[Compared]:
        """Return the memories that have most of the query's words, at most `limit`, best first, and behind them those
        of the others that are named in `also`: see `stores.fulltext.postings.compare`.

        How rare a word is, is counted over just these subjects.
        """
        return compare(
            self.blocks,
            terms_of(query),
            limit,
            also,
            saturation=policy.retrieval_repetition_saturation,
            length_weight=policy.retrieval_length_weight,
        )

    @property
    def is_empty(self) -> bool:
        """Return whether the subjects have nothing that could be found."""
        return not any(block.alive.any() for block in self.blocks)

    @property
    def opening(self) -> str:
        """Return the name with which most of the summaries begin: whom they are about; empty where there are none."""
        names = Counter[str]()
        for block in self.blocks:
            for (_, opening), count in block.openings.items():
                names[opening] += count
        return names.most_common(1)[0][0] if names else ""

    def saying(self, words: Iterable[str]) -> list[uuid.UUID]:
        """Return the memories whose summaries hold all of some words, in any case, as a text holds a text; latest said
        first."""
        holding = [summary for block in self.blocks for summary in block.living()]
        # Long words are rare ones, mostly: the fewer are left, the less there is to look through for the next.
        for word in sorted(map(str.casefold, words), key=len, reverse=True):
            holding = [summary for summary in holding if word in summary.text.casefold()]
        return [summary.memory_id for summary in sorted(holding, key=lambda summary: summary.said_at, reverse=True)]

    def unknown(self, words: Sequence[str]) -> float:
        """Return the share of some words that no memory has, 0 to 1; 0 of none."""
        missing = sum(not all(self._has(term) for term in terms_of(word)) for word in words)
        return missing / max(1, len(words))

    def _has(self, term: str) -> bool:
        return any(len(block.having(term)[0]) for block in self.blocks)


class FullText:
    """Finds the active memories of subjects by the words of their summaries, or chunks of documents by theirs: `read`
    gives what was written of a subject since a revision, such as `Catalog.summaries`.

    Safe to call from many threads. What it knows of a subject is read from the catalog at the first search and held in
    memory, the least recently used subject first out. Every later search asks the catalog for the subject's revision,
    and reads what was written since: so a search sees every commit before it, of any process.
    """

    def __init__(self, read: Callable[[Subject, int | None], Summaries], cache_bytes: int = CACHE_BYTES) -> None:
        self._read = read
        self._snapshots: ByteLRU[Subject, _Snapshot] = ByteLRU(cache_bytes)

    def read(self, asked: Sequence[tuple[Subject, tuple[Seen, ...] | None]]) -> Words:
        """Return the words of these subjects' memories as the catalog has them now, of each what somebody sees of it,
        all of it for None. What they do not see counts for nothing: see `of_documents`."""
        return Words(
            tuple(
                block if seen is None else block.of_groups(partial(_is_seen, seen))
                for subject, seen in asked
                for block in self._current(subject).blocks
            )
        )

    def of_documents(self, subject: Subject, seen: tuple[Seen, ...] | None) -> tuple[Words, frozenset[str]]:
        """Return the words of a subject's documents that somebody sees, all of them for None, and their ids. What they
        do not see counts for nothing, not even for how rare a word is: that would tell them who else wrote it."""
        current = self._current(subject)
        if seen is None:
            return Words(current.blocks), frozenset(current.documents)
        visible = frozenset(
            id_ for id_, labels in current.documents.items() if any(scope.covers(labels) for scope in seen)
        )
        return Words(tuple(block.of_groups(visible.__contains__) for block in current.blocks)), visible

    def _current(self, subject: Subject) -> _Snapshot:
        earlier = self._snapshots.get(subject)
        read = self._read(subject, earlier.revision if earlier else None)
        if earlier is not None and read.revision == earlier.revision:
            return earlier
        before = earlier if earlier is not None and not read.whole else _Snapshot(0, (), {})
        snapshot = before.after(read)
        self._snapshots.put(subject, snapshot)
        return snapshot


def _is_seen(seen: tuple[Seen, ...], group: Group) -> bool:
    return isinstance(group, Labels) and any(scope.covers(group) for scope in seen)
