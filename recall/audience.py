"""The audience of a search: what a principal sees of each subject, and whether a memory may be told to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.metrics import count_denied
from memory.rights import require_shared, seen_of
from policies.access import may_see
from policies.topics import is_about
from recall.search_stages import search_stage
from schema import Labels, Memory, MemoryType, Preferences, Principal, Seen, Status, Subject, Visibility
from schema.errors import Denied
from stores.open import Stores


@dataclass(frozen=True)
class Audience:
    """The asker of a subject's memories, and the topics of which the subject wants nothing told."""

    subject: Subject
    seen: tuple[Seen, ...] | None
    """None for an operator, or a worker: they see everything."""
    wanted: Preferences

    @property
    def reads_turns(self) -> bool:
        """Return whether they may read what was said: a turn says more than the memory that came of it, so only the
        subject themself, their agents, and operators do."""
        return may_see(self.seen, Labels(Visibility.PERSONAL, self.subject.subject_id))

    def sees(self, memory: Memory) -> bool:
        """Return whether the memory exists for them, whatever its status."""
        return memory.subject == self.subject and may_see(self.seen, memory.labels)

    def may_be_told(self, memory: Memory) -> bool:
        """Return whether the memory may be recalled: active and not suppressed, seen, and on no blocked topic."""
        return memory.status is Status.ACTIVE and self.may_be_mentioned(memory)

    def may_be_mentioned(self, memory: Memory) -> bool:
        """Return whether the memory may be spoken of to them, as what it is: whatever its status."""
        return (
            not memory.suppressed
            and self.sees(memory)
            and not is_about(memory.summary, self._left_alone_by(memory), (*memory.tags, memory.category))
        )

    def _left_alone_by(self, memory: Memory) -> tuple[str, ...]:
        """Return on which topics it must not be: what the assistant is to do may name what is never to be mentioned."""
        is_order = memory.type is MemoryType.PROCEDURAL
        return self.wanted.blocked_topics if is_order else self.wanted.left_alone


def audiences(principal: Principal | None, subjects: Sequence[Subject], stores: Stores) -> list[Audience]:
    """Return what a principal may be told of each subject; None stands for an operator.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of one of them.
    """
    try:
        with search_stage("access"):
            seen = [seen_of(principal, subject, stores.catalog) for subject in subjects]
    except Denied as error:
        count_denied(error)
        raise
    return [
        Audience(subject, sees, stores.catalog.preferences.of(subject))
        for subject, sees in zip(subjects, seen, strict=True)
    ]


def avoided_topics_in(principal: Principal | None, subject: Subject, text: str, stores: Stores) -> list[str]:
    """Return on which topics a text is that the subject wants left alone: what is on none may be said to them.

    It is told to whom the preferences are: to anybody else even a yes or no would name a topic, text by text.

    Raises:
        NotAMember, NotAllowed: the principal does not see what members of the subject share.
    """
    require_shared(principal, subject, stores.catalog)
    return [topic for topic in stores.catalog.preferences.of(subject).left_alone if is_about(text, [topic])]


def tellable(audience: Audience, memories: Iterable[Memory]) -> list[Memory]:
    """Return those of the memories that may be recalled."""
    return [memory for memory in memories if audience.may_be_told(memory)]
