"""Screen what is imported, as what is stated outright is: another house may have kept what is not kept here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memory.context import MemoryContext
from memory.export_lines import Carried
from memory.planted_orders import REASON as PLANTED
from memory.planted_orders import is_likely_planted_statement
from memory.screening import hidden_runs, masked_claim, source_of
from memory.third_parties import REASON as OTHERS
from memory.third_parties import own_names, without_others
from policies.privacy.rights_claims import REASON as RIGHTS
from policies.privacy.rights_claims import is_without_authority
from policies.privacy.screen import screen
from schema import Memory, Policy, Preferences, Subject, Turn, Verdict

WITHDRAWN = "consent_withdrawn"


@dataclass(frozen=True)
class Refused:
    """A memory that may not be kept; `rule` says by which rule."""

    rule: str


@dataclass(frozen=True)
class Kept:
    """A memory as it may be kept, with its raw turns; its vector only while it says what it did."""

    carried: Carried
    is_masked: bool


@dataclass
class ImportScreening:
    """Screening of the memories of one subject that are imported together."""

    subject: Subject
    preferences: Preferences
    context: MemoryContext
    hidden: dict[str, set[str]] = field(default_factory=dict)
    """The names of others that no raw turn may keep, by turn: one may be the source of several memories."""

    def screened(self, waiting: Sequence[Carried]) -> Iterator[Kept | Refused]:
        """Yield each memory as it may be kept, or by which rule it may not.

        Raises:
            EmbedderUnavailable: the embedder cannot be asked now.
        """
        if self.preferences.consent == "withdrawn":
            yield from (Refused(WITHDRAWN) for _ in waiting)
            return
        known = own_names(self.subject, self.context)
        judged = [(carried, self._claim(carried, known)) for carried in waiting]
        for carried, claim in judged:
            if isinstance(claim, Refused):
                yield claim
                continue
            sources = tuple(self._source(turn, known) for turn in carried.sources)
            vector = carried.vector if claim.summary == carried.memory.summary else None
            is_masked = (claim, sources) != (carried.memory, carried.sources)
            yield Kept(replace(carried, memory=claim, sources=sources, vector=vector), is_masked)

    def _claim(self, carried: Carried, known: Sequence[str]) -> Memory | Refused:
        memory, policy = carried.memory, self.context.policy
        own = tuple(dict.fromkeys((*(turn.user_name() or "" for turn in carried.sources), *known)))
        own = tuple(filter(None, own))
        name = next(iter(own), "")
        labels = (*memory.tags, memory.category)
        screening = screen(
            memory.summary,
            policy,
            blocked_topics=self.preferences.blocked_topics,
            labels=labels,
            is_summary=True,
            name=name,
        )
        if is_without_authority(memory.source, memory.summary):
            return Refused(RIGHTS)
        if screening.verdict is Verdict.QUARANTINE:
            return Refused(PLANTED)
        if screening.verdict is Verdict.REFUSE:
            return Refused(", ".join(screening.reasons))
        if is_likely_planted_statement(memory.summary, self.context.embedder, self.context.utterance_reader):
            return Refused(PLANTED)
        kept = masked_claim(memory, screening, self.context, name)
        if rule := _secret_of_a_source(kept, carried.sources, policy):
            return Refused(rule)
        masked = without_others(kept, own, self.context)
        for turn in carried.sources:
            self.hidden.setdefault(turn.turn_id, set()).update(masked.hidden)
        return masked.kept or Refused(OTHERS)

    def _source(self, turn: Turn, known: Sequence[str]) -> Turn:
        own = [name for name in (turn.user_name(), *known) if name]
        hidden = sorted(self.hidden.get(turn.turn_id, ()))
        return source_of(turn, self.preferences.blocked_topics, hidden, self.context.policy, own=own)


def _secret_of_a_source(memory: Memory, sources: Sequence[Turn], policy: Policy) -> str | None:
    """Return the rules by which a source has a secret that its memory says without saying what it is."""
    for turn in sources:
        said = turn.text_of("user")
        screening = screen(said, policy)
        if any(secret in memory.summary.lower() for secret in hidden_runs(said, screening.text, policy)):
            return ", ".join(screening.reasons)
    return None
