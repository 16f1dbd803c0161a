"""Screen what somebody states outright, by a tool or at a page: what may be kept, of whom, and by which rule not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory.context import MemoryContext
from memory.planted_orders import REASON as PLANTED
from memory.planted_orders import is_likely_planted_statement
from memory.statement_reading import Reading, read_statement
from memory.tags import kept_tags
from memory.third_parties import REASON as OTHERS
from memory.third_parties import Told, own_names, relations_known, without_others
from policies.privacy.rights_claims import REASON as RIGHTS
from policies.privacy.rights_claims import is_without_authority
from policies.privacy.screen import screen
from schema import Preferences, Subject, Verdict
from schema.errors import Refused
from schema.turn import TurnSource


class NotKept(Refused):
    """Raised where a rule forbids to keep what was to be written. The message says by which rule, not what it was."""


def require_consent(preferences: Preferences) -> None:
    """Refuse to keep anything for somebody who wants nothing kept.

    Raises:
        NotKept: consent is withdrawn.
    """
    if preferences.consent == "withdrawn":
        raise NotKept("consent is withdrawn: nothing is kept until it is given again")


def screened(
    text: str,
    preferences: Preferences,
    context: MemoryContext,
    *,
    labels: Sequence[str] = (),
    by_hand: bool = False,
    source: TurnSource = "chat",
) -> str:
    """Return what may be kept of a text, its secrets masked; `labels` are looked at for blocked topics too.

    `by_hand` says that a person wrote it where they see what is kept: then the rules alone look for orders, and the
    head, which is wrong now and then, is not asked. `source` is whose words they are: what a user may do here, and what
    is recommended to them, is not for an agent to say.

    Raises:
        NotKept: it is a secret, planted, on a blocked topic, or not its source's to say.
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    screening = screen(text, context.policy, blocked_topics=preferences.blocked_topics, labels=labels)
    if screening.verdict in (Verdict.REFUSE, Verdict.QUARANTINE):
        raise NotKept(f"this may not be kept ({', '.join(screening.reasons)})")
    if is_without_authority(source, text):
        raise NotKept(f"this may not be kept ({RIGHTS}): what a user may do, or is recommended, they say themself")
    if not by_hand and is_likely_planted_statement(text, context.embedder):
        raise NotKept(f"this may not be kept ({PLANTED}): it reads like an order to the assistant")
    return screening.text


def stated_tags(tags: Sequence[str], subject: Subject, context: MemoryContext) -> tuple[str, ...]:
    """Return those of the tags of what is stated of a subject that may be kept.

    Raises:
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    kept = kept_tags(tags, (), context)
    # Only now is it worth asking what the user is called, whose own name stays.
    return kept if len(kept) == len(tags) else kept_tags(tags, own_names(subject, context), context)


def reading_of(text: str, subject: Subject, context: MemoryContext, at: datetime) -> Reading:
    """Return the facts and named things of what was stated of a subject at a moment, as it may be kept."""
    return read_statement(text, own_names(subject, context), at)


def stated_without_others(claim: Told, subject: Subject, context: MemoryContext) -> Told:
    """Return a claim on a subject without the names of others of whom it tells something sensitive.

    Raises:
        NotKept: which word is the name cannot be told, or the policy drops such claims.
    """
    masked = without_others(claim, (), context)
    if masked.hidden:
        # Only now is it worth asking what the user is called, whose own name stays.
        known = relations_known(masked.hidden, subject, context)
        masked = without_others(claim, own_names(subject, context), context, known)
    if masked.kept is None:
        raise NotKept(f"this may not be kept ({OTHERS}): say it without the name")
    return masked.kept
