"""Screen: what of a batch may become a memory or a source, and what a person must look at first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from memory.blocked_topics import likely_about
from memory.context import MemoryContext
from memory.draft import Draft
from memory.metrics import SCREENINGS
from memory.planted_orders import REASON as PLANTED
from memory.planted_orders import likely_planted
from memory.review_queue import queue_for_review
from memory.scoring import Origin
from memory.spoken_preferences import SpokenPreferences
from memory.tags import kept_tags
from memory.third_parties import REASON as OTHERS
from memory.third_parties import Told, relations_known, text_without_others, without_others
from policies.authority import authority_of, without_privileges
from policies.privacy import planted
from policies.privacy.prompts import is_prompt
from policies.privacy.rights_claims import REASON as RIGHTS
from policies.privacy.rights_claims import is_without_authority
from policies.privacy.screen import is_secret_by_name, masked_in, screen, tells_only_masks
from policies.privacy.standing_claims import is_ordering_title, title_as_text
from policies.privacy.third_parties import with_relation, without_names
from policies.topics import without
from schema import (
    Asker,
    Attachment,
    AuditAction,
    Candidate,
    Extraction,
    Fact,
    ForgetRequest,
    Memory,
    Message,
    Policy,
    Screening,
    Turn,
    Verdict,
)
from schema.turn import MetadataValue

_MASK = "[masked]"
_UNKNOWN_TYPE = "application/octet-stream"
_PROMPT = "written_for_a_model"
_ONLY_MASKS = "only_masks"
"""Why nothing is kept of what tells nothing beside what is masked in it."""
_MAY_NOT_DELETE = "its source may not forget for the user"
_PUNCTUATION = ".,;:!?\"'()[]{}<>"
_READ_CHARS = 8_000
_IDENTIFYING = re.compile(r"\d|@|\S{16}")
_SHORTEST_HIDDEN = 4
"""Characters from which a masked word is looked for in what else was said: shorter ones are words of every day."""


def screened(
    extraction: Extraction,
    turns: Mapping[str, Turn],
    preferences: SpokenPreferences,
    draft: Draft,
    context: MemoryContext,
) -> Iterator[Candidate | ForgetRequest]:
    """Yield what may go on, masked; of all else a line goes onto the draft, or a review."""
    seen = {turn_id: screen(turn.text_of("user"), context.policy) for turn_id, turn in turns.items()}
    prompts = {turn_id for turn_id, turn in turns.items() if is_prompt(turn.text_of("user"))}
    behind = {id(item): _behind(item, turns) for item in extraction.items if isinstance(item, Candidate)}
    beside = {turn_id: [title_as_text(text) for text in _beside(turn)] for turn_id, turn in turns.items()}
    whole = {turn_id: turn.text_of("user") for turn_id, turn in turns.items()}
    all_texts = [*whole.values(), *behind.values(), *chain(*beside.values())]
    planted_texts = likely_planted(all_texts, context.embedder, context.utterance_reader)
    likely = {turn_id for turn_id, text in whole.items() if planted_texts & {text, *beside[turn_id]}} - prompts
    by_rules = {turn_id for turn_id, screening in seen.items() if screening.verdict is Verdict.QUARANTINE}
    orders = likely | by_rules | {turn_id for turn_id, turn in turns.items() if _is_planted_beside(turn)}
    hidden = {
        turn_id: hidden_runs(whole[turn_id], screening.text, context.policy) for turn_id, screening in seen.items()
    }
    told: list[Fact] = []
    for item in extraction.items:
        turn = turns[item.turn_id]
        authority = authority_of(turn.source)
        if isinstance(item, ForgetRequest):
            if authority.deletes:
                yield item
            else:
                draft.audit_refusal(AuditAction.REFUSED, item.turn_id, _MAY_NOT_DELETE)
            continue
        if item.turn_id in preferences.withheld:
            continue
        topics = preferences.topics(item.turn_id)
        name = turn.user_name() or draft.name or ""
        labels = (*item.tags, item.category, *_blocked(item, topics, name, draft, context))
        screening = screen(
            item.summary, context.policy, blocked_topics=topics, labels=labels, is_summary=True, name=name
        )
        kept = masked_claim(item, screening, context, name)
        if item.turn_id not in orders and tells_only_masks(kept.summary, name):
            reasons = (*screening.reasons, _ONLY_MASKS)
            screening = Screening(verdict=Verdict.REFUSE, text="", reasons=tuple(dict.fromkeys(reasons)))
        SCREENINGS.labels(Verdict.QUARANTINE if item.turn_id in orders else screening.verdict).inc()
        if screening.verdict is Verdict.REFUSE:
            draft.audit_refusal(AuditAction.REFUSED, item.turn_id, ", ".join(screening.reasons))
        elif any(secret in kept.summary.lower() for secret in hidden[item.turn_id]):
            draft.audit_refusal(AuditAction.REFUSED, item.turn_id, ", ".join(seen[item.turn_id].reasons))
        elif item.turn_id in prompts - orders:
            draft.audit_refusal(AuditAction.REFUSED, item.turn_id, _PROMPT)
        elif item.turn_id in orders or screening.verdict is Verdict.QUARANTINE or behind[id(item)] in planted_texts:
            _hold(kept, turn, PLANTED, told, draft, context)
        elif is_without_authority(item.source, item.summary, behind[id(item)]):
            _hold(kept, turn, RIGHTS, told, draft, context)
        elif (candidate := _without_others(kept, turn, told, draft, context)) and (
            allowed := without_privileges(candidate)
        ):
            told += allowed.facts
            yield allowed


def _hold(
    candidate: Candidate, turn: Turn, reason: str, told: Iterable[Fact], draft: Draft, context: MemoryContext
) -> None:
    """Have a person decide on a candidate, as it may be shown to them."""
    shown = None if candidate.only_as_news else _without_others(candidate, turn, told, draft, context)
    if shown is not None:
        origin = Origin(turn.conversation_id, turn.agent_id, turn.user_id)
        queue_for_review(shown, Asker.SCREENING, reason, draft, context, origin)


def _blocked(
    candidate: Candidate, topics: Sequence[str], name: str, draft: Draft, context: MemoryContext
) -> tuple[str, ...]:
    """Return the blocked topics that a candidate is likely about; its raw turn does not tell it then either, where
    something else in it is kept."""
    likely = likely_about(candidate.summary, topics, context.embedder, name)
    if likely:
        draft.gone.setdefault(candidate.turn_id, []).append(candidate.summary)
    return likely


def _behind(candidate: Candidate, turns: Mapping[str, Turn]) -> str:
    """Return the sentence that a candidate retells: it may be planted whatever stands around it."""
    words = turns[candidate.turn_id].text_of("user")
    return planted.sentence_behind(candidate.summary[:_READ_CHARS], words[:_READ_CHARS])


def _beside(turn: Turn) -> list[str]:
    """Return what stands beside the words: names of writers, titles of attachments."""
    names = [message.name for message in turn.messages if message.name]
    return names + [attachment.title for attachment in turn.attachments if attachment.title]


def _is_planted_beside(turn: Turn) -> bool:
    """Return whether what comes with the words has orders."""
    return any(any(planted.find(text)) or is_ordering_title(text) for text in _beside(turn))


def _without_others(
    candidate: Candidate, turn: Turn, told: Iterable[Fact], draft: Draft, context: MemoryContext
) -> Candidate | None:
    """Return the candidate without the names of others of whom it tells something sensitive, None if it must not be
    kept; `told` are facts of the same batch, told before it."""
    own = tuple(name for name in (turn.user_name(), draft.name) if name)
    masked = without_others(candidate, own, context)
    if masked.hidden and (known := relations_known(masked.hidden, draft.subject, context, told)):
        masked = without_others(candidate, own, context, known)
    draft.hidden.setdefault(candidate.turn_id, set()).update(masked.hidden)
    if masked.kept is None:
        draft.audit_refusal(AuditAction.REFUSED, candidate.turn_id, OTHERS)
    return masked.kept


def hidden_runs(original: str, kept: str, policy: Policy) -> set[str]:
    """Return, in small letters, the long words, those with digits, and the runs of words that screening took out of
    what the user said: with a capital, told in the third person, or without the line above it, a secret or a number may
    stand where no rule knows it ("the code of Maya's lock")."""
    if original == kept:
        return set()
    identifying = {word for word in _hidden_words(original, kept) if _IDENTIFYING.search(word)}
    runs = {run for run in masked_in(original, policy) if " " in run and len(run) >= _SHORTEST_HIDDEN}
    return {run.lower() for run in identifying | runs}


def masked_claim(claim: Told, screening: Screening, context: MemoryContext, name: str) -> Told:
    """Return a claim with nothing in any field that its summary may not have: out of its sentence no rule knows a
    password, so what was masked there is looked for in the rest."""
    if screening.verdict is Verdict.ALLOW and not _says_more(claim):
        return claim
    hidden = _hidden_words(claim.summary, screening.text)

    def is_hidden(text: str) -> bool:
        is_masked = text in claim.summary and text not in screening.text
        return is_masked or any(word in text for word in hidden)

    def may_keep(text: str) -> bool:
        return not is_hidden(text) and (screen(text, context.policy, name=name).verdict is Verdict.ALLOW)

    return claim.model_copy(
        update={
            "summary": screening.text,
            "tags": kept_tags([tag for tag in claim.tags if not is_hidden(tag)], [name] if name else [], context),
            "entities": tuple(entity for entity in claim.entities if may_keep(entity.text)),
            "facts": tuple(
                fact
                for fact in claim.facts
                if may_keep(fact.object) and may_keep(f"{fact.entity} {fact.verb} {fact.object}")
            ),
            "attachments": tuple(
                attachment_kept(attachment, lambda text: text if may_keep(text) else "")
                for attachment in claim.attachments
            ),
        }
    )


def _says_more(claim: Candidate | Memory) -> bool:
    """Return whether another field has something that may be an identifier or a key and is not in the summary."""
    fields = (
        *claim.tags,
        *(entity.text for entity in claim.entities),
        *(fact.object for fact in claim.facts),
        *(text for it in claim.attachments for text in (it.uri, it.media_type, it.title or "")),
    )
    return any(text not in claim.summary and _IDENTIFYING.search(text) for text in fields)


def _hidden_words(original: str, kept: str) -> set[str]:
    """Return the words of a text that screening took out of it, long enough to be looked for elsewhere."""
    if original == kept:
        return set()
    words = (word.strip(_PUNCTUATION) for word in set(original.split()) - set(kept.split()))
    return {word for word in words if len(word) >= _SHORTEST_HIDDEN}


def source_of(
    turn: Turn, blocked_topics: Sequence[str], names: Iterable[str], policy: Policy, *, own: Sequence[str] = ()
) -> Turn:
    """Return the turn as it may be kept for provenance: with everything masked that no memory may hold.

    What is masked where one side says it is masked where the other repeats it without saying what it is. The hot
    path's candidate is not kept, for what became of it is a memory, nor is what was said before the turn. `names` are
    those of others that are left out, `own` the user's: of metadata no candidate comes, so it is read for others' here.
    """
    others = tuple(names)

    def kept(text: str) -> str:
        masked = without_names(masked_text(without(text, blocked_topics), policy), others)
        return with_relation(masked) if others else masked

    def name_kept(name: str | None) -> str | None:
        return name if name is None or (kept(name) == name and name not in hidden) else _MASK

    texts = [kept(message.content) for message in turn.messages]
    hidden = {
        word
        for message, text in zip(turn.messages, texts, strict=True)
        if text != message.content
        for word in _hidden_words(without(message.content, blocked_topics), text)
    }
    messages = tuple(
        Message(role=message.role, name=name_kept(message.name), content=_hiding(hidden, text))
        for message, text in zip(turn.messages, texts, strict=True)
    )
    attachments = tuple(attachment_kept(attachment, kept) for attachment in turn.attachments)

    def noted(text: str) -> str:
        return text_without_others(_hiding(hidden, kept(text)), own, policy)

    metadata = {
        name: _metadata_kept(name, value, noted, policy) for name, value in turn.metadata.items() if noted(name) == name
    }
    beside = {"attachments": attachments, "metadata": metadata, "candidate": None, "history": ()}
    return turn.model_copy(update={"messages": messages, **beside})


def masked_text(text: str, policy: Policy) -> str:
    """Return a text that is no claim with everything masked that may not be kept, "" where nothing of it may."""
    masks = policy.personal_identifiers == "drop"
    masking = policy.model_copy(update={"personal_identifiers": "mask"}) if masks else policy
    return screen(text, masking).text


def _metadata_kept(name: str, value: MetadataValue, kept: Callable[[str], str], policy: Policy) -> MetadataValue:
    """Return what an application noted under a name as it may be kept; a number that may not be is one of a card, or a
    PIN by its name, say."""
    text = str(value)
    if kept(text) != text:
        return kept(text) or _MASK
    return _MASK if not isinstance(value, bool) and is_secret_by_name(name, text, policy) else value


def attachment_kept(attachment: Attachment, kept: Callable[[str], str]) -> Attachment:
    """Return a pointer as it may be kept; `kept` says what of a text may be."""
    type_ = attachment.media_type
    update = {
        "uri": kept(attachment.uri) or _MASK,
        "media_type": type_ if kept(type_) == type_ else _UNKNOWN_TYPE,
        "title": (kept(attachment.title) or None) if attachment.title else None,
    }
    return attachment.model_copy(update=update)


def _hiding(hidden: Iterable[str], text: str) -> str:
    for word in sorted(hidden, key=len, reverse=True):
        text = text.replace(word, _MASK)
    return text
