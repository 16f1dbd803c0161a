"""Context around one batch of turns: what earlier ones left for it, and what it leaves for the next."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal

from memory.spoken_preferences import SpokenPreferences
from policies.admission import admit, admit_for_model, orders_something
from policies.privacy.planted import is_likely
from policies.privacy.requested_secrets import asking_sentence, is_announced, is_begun, without_answers
from policies.privacy.screen import screen
from schema import (
    MAX_QUESTION_CHARS,
    MAX_RECENT_TURNS,
    Admission,
    AdmissionAction,
    AdmittedTurn,
    Context,
    Extraction,
    ForgetRequest,
    KnownMemory,
    OpenTopic,
    Policy,
    Question,
    RecentTurn,
    Status,
    Subject,
    Turn,
    Verdict,
)
from schema.settings_agents import AgentSettings
from stores.catalog import BeforeBatch
from stores.index.base import Where
from worker.context import WorkerContext
from worker.extract.utterances import question_of

_BEGUN = "The secret is"
_ANNOUNCED = "Here comes the secret."
"""The stand-in for a secret that was begun, until the next turn."""
_AGENT_DISABLED = "agent_disabled"
_NOT_KEPT = {"consent_withdrawn", "off_the_record", _AGENT_DISABLED}
_KNOWN = 10
_NEWEST = 3
"""How many known memories an extractor is shown, and how many of them are there for being the newest."""
_MAX_RECENT_CHARS = 300
_MAX_SOUGHT_CHARS = 600
"""Of a message that is kept for the next turns, and of what a turn says that is looked for in the index."""


def before_batch(subject: Subject, turns: Sequence[Turn], context: WorkerContext, now: datetime) -> BeforeBatch:
    """Return what the catalog has of these turns and their subject; of the context that earlier batches left what is
    fresh."""
    return context.catalog.before_batches.of(
        subject,
        [turn.turn_id for turn in turns],
        {turn.conversation_id for turn in turns},
        topics_since=now - timedelta(hours=context.policy.open_topic_hours),
        questions_since=now - timedelta(hours=context.policy.question_hours),
    )


def with_histories(turns: Sequence[Turn], context: Context, worker: WorkerContext) -> Context:
    """Return the context with what turns say themselves of what was said before them: in their conversations it stands
    for what earlier batches left. It is screened as that is; of a message that may not be kept nothing is shown."""
    first: dict[str, Turn] = {}
    for turn in turns:
        first.setdefault(turn.conversation_id, turn)
    most = worker.settings.creator_messages
    before = {
        conversation: turn.model_copy(update={"messages": turn.history[-most:], "history": ()})
        for conversation, turn in first.items()
        if turn.history and most
    }
    if not before:
        return context
    blocked = context.preferences.blocked_topics
    questions = {conversation: _asked_in(history, blocked, worker.policy) for conversation, history in before.items()}
    recent = (_told_before(history, blocked, worker.policy) for history in before.values())
    return context.model_copy(
        update={
            "questions": {
                conversation: question
                for conversation, question in {**context.questions, **questions}.items()
                if question is not None
            },
            "recent": (
                *(recent_turn for recent_turn in context.recent if recent_turn.conversation_id not in before),
                *(recent_turn for recent_turn in recent if recent_turn.lines),
            ),
        }
    )


def _asked_in(history: Turn, blocked_topics: Sequence[str], policy: Policy) -> Question | None:
    question = _secret_left_open(history) or question_of(_last_words(history))
    if question is None or len(question) > MAX_QUESTION_CHARS or not _may_keep(question, blocked_topics, policy):
        return None
    return Question(conversation_id=history.conversation_id, text=question, turn_id=history.turn_id)


def _told_before(history: Turn, blocked_topics: Sequence[str], policy: Policy) -> RecentTurn:
    lines = tuple(
        (message.role, " ".join(message.content.split())[:_MAX_RECENT_CHARS])
        for message in history.messages
        if message.role in ("user", "assistant")
        and message.content.strip()
        and _may_keep(message.content, blocked_topics, policy)
    )
    return RecentTurn.model_validate(
        {
            "conversation_id": history.conversation_id,
            "turn_id": history.turn_id,
            "said_at": history.occurred_at,
            "lines": lines,
        }
    )


def admitted(
    turns: Sequence[Turn], context: Context, settings: AgentSettings, *, for_model: bool
) -> list[AdmittedTurn]:
    """Return the turns with what admission says of each, which knows what was asked before it in its conversation.

    What is said to an agent that does not remember is skipped, unless it orders something of the memory.
    """
    questions = {conversation: question.text for conversation, question in context.questions.items()}
    admit_turn = admit_for_model if for_model else admit
    with_admission = []
    for turn in turns:
        admission = admit_turn(turn, questions.pop(turn.conversation_id, ""))
        if not settings.switches_of(turn.agent_id).creator and not orders_something(admission):
            admission = Admission(action=AdmissionAction.SKIP, reasons=(_AGENT_DISABLED,))
        with_admission.append(AdmittedTurn(turn, admission))
        if text := _last_words(turn):
            questions[turn.conversation_id] = text
    return with_admission


def with_known(turns: Sequence[AdmittedTurn], conversation: Context, context: WorkerContext) -> Context:
    """Return the conversation with the memories that the turns may be about: those nearest to what the user says in
    them, by the index, and the newest, which may not be in it yet.

    Raises:
        EmbedderUnavailable, IndexUnavailable, CircuitOpen: try again later.
    """
    subject = turns[0].turn.subject
    newest = context.catalog.list_memories(subject, limit=_KNOWN)
    memories = {memory.id: memory for memory in newest}
    chosen = list(memories)
    if len(newest) == _KNOWN:
        near: dict[uuid.UUID, float] = {}
        for vector in context.embedder.embed(_sought(turns, conversation)):
            for hit in context.index.query(vector, Where(subject), _KNOWN):
                near[hit.memory_id] = max(near.get(hit.memory_id, -1.0), hit.similarity)
        nearest = [id_ for id_ in sorted(near, key=lambda id_: -near[id_]) if id_ not in chosen[:_NEWEST]]
        chosen = list(dict.fromkeys((*nearest[: _KNOWN - _NEWEST], *chosen)))[:_KNOWN]
        memories |= context.catalog.memories(subject, set(chosen) - memories.keys())
    active = [memories[id_] for id_ in chosen if id_ in memories and memories[id_].status is Status.ACTIVE]
    shown = tuple(KnownMemory(id=memory.id, summary=memory.summary, said_at=memory.said_at) for memory in active)
    return conversation.model_copy(update={"known": shown})


def _sought(turns: Sequence[AdmittedTurn], conversation: Context) -> list[str]:
    """Return what the user says in each turn; a short answer with what was said before it."""
    before = {
        recent_turn.conversation_id: recent_turn.lines[-1][1]
        for recent_turn in conversation.recent
        if recent_turn.lines
    }
    texts = []
    for admitted_turn in turns:
        spoken = admitted_turn.turn.text_of("user")[:_MAX_SOUGHT_CHARS]
        if admitted_turn.admission.action is not AdmissionAction.SKIP and spoken.strip():
            texts.append(f"{before.get(admitted_turn.turn.conversation_id, '')} {spoken}".strip())
        before[admitted_turn.turn.conversation_id] = spoken
    return texts


def recent_after(
    turns: Sequence[AdmittedTurn], context: Context, preferences: SpokenPreferences, policy: Policy
) -> dict[str, tuple[RecentTurn, ...]]:
    """Return the last turns of these conversations: screened, cut short, and none that must not be kept."""
    kept: dict[str, tuple[RecentTurn, ...]] = {}
    for recent_turn in context.recent:
        kept[recent_turn.conversation_id] = (*kept.get(recent_turn.conversation_id, ()), recent_turn)
    for admitted_turn in turns:
        before = kept.get(admitted_turn.turn.conversation_id, ())
        now = _recent(admitted_turn, preferences, policy)
        kept[admitted_turn.turn.conversation_id] = (*before, *([now] if now else []))[-MAX_RECENT_TURNS:]
    return {admitted_turn.turn.conversation_id: kept[admitted_turn.turn.conversation_id] for admitted_turn in turns}


def _recent(admitted_turn: AdmittedTurn, preferences: SpokenPreferences, policy: Policy) -> RecentTurn | None:
    turn = admitted_turn.turn
    if _NOT_KEPT & set(admitted_turn.admission.reasons) or turn.turn_id in preferences.withheld:
        return None
    lines: list[tuple[Literal["user", "assistant"], str]] = []
    for message in turn.messages:
        if message.role in ("user", "assistant") and message.content.strip():
            screening = screen(message.content, policy, blocked_topics=preferences.topics(turn.turn_id))
            # One side may repeat in its own words what the other had better not said.
            if screening.verdict is not Verdict.ALLOW or (message.role == "user" and is_likely(message.content)):
                return None
            lines.append((message.role, " ".join(screening.text.split())[:_MAX_RECENT_CHARS]))
    if not lines:
        return None
    return RecentTurn(
        conversation_id=turn.conversation_id, turn_id=turn.turn_id, said_at=turn.occurred_at, lines=tuple(lines[-4:])
    )


def name_of(turns: Sequence[Turn], context: Context) -> str | None:
    """Return what the user is called: as the latest message that says so has it, or as they once said."""
    return next((name for turn in reversed(turns) if (name := turn.user_name())), context.name)


def without_answered_secrets(turns: Sequence[Turn], context: Context) -> list[Turn]:
    """Return the turns without the secrets that only what was said before them tells from other words."""
    by_conversation: dict[str, list[Turn]] = {}
    for turn in turns:
        by_conversation.setdefault(turn.conversation_id, []).append(turn)
    masked: dict[str, Turn] = {}
    for conversation, of_conversation in by_conversation.items():
        question = context.questions.get(conversation)
        messages = [message for turn in of_conversation for message in turn.messages]
        without = iter(without_answers(messages, question.text if question else ""))
        for turn in of_conversation:
            kept = tuple(islice(without, len(turn.messages)))
            masked[turn.turn_id] = turn if kept == turn.messages else turn.model_copy(update={"messages": kept})
    return [masked[turn.turn_id] for turn in turns]


def questions_after(
    turns: Sequence[AdmittedTurn], context: Context, preferences: SpokenPreferences, policy: Policy
) -> dict[str, Question | None]:
    """Return what changes of what is still to be answered in the conversations of these turns."""
    latest = {admitted.turn.conversation_id: _question(admitted, preferences, policy) for admitted in turns}
    return {
        conversation: question
        for conversation, question in latest.items()
        if question is not None or conversation in context.questions
    }


def topics_after(
    extraction: Extraction,
    turns: Sequence[AdmittedTurn],
    context: Context,
    preferences: SpokenPreferences,
    policy: Policy,
) -> dict[str | None, OpenTopic | None]:
    """Return what changes of what is open with the agents of these turns.

    Whatever is open is closed when the user asks for something to be forgotten: it may be of that.
    """
    if any(isinstance(item, ForgetRequest) and not item.only_as_read for item in extraction.items):
        return dict.fromkeys(context.open_topics)
    looked_at = [admitted.turn for admitted in turns if admitted.admission.action is not AdmissionAction.SKIP]
    user_texts = {admitted.turn.turn_id: admitted.turn.text_of("user") for admitted in turns}
    latest = {
        topic.agent_id: topic
        for topic in extraction.open_topics
        if topic.turn_id not in preferences.withheld
        and _may_keep(topic.text, preferences.topics(topic.turn_id), policy)
        and _may_keep_beside(user_texts.get(topic.turn_id, ""), policy)
    }
    return {
        agent: latest.get(agent)
        for agent in {turn.agent_id for turn in looked_at}
        if _text(latest.get(agent)) != _text(context.open_topics.get(agent))
    }


def _may_keep(text: str, blocked_topics: Sequence[str], policy: Policy) -> bool:
    return screen(text, policy, blocked_topics=blocked_topics).verdict is Verdict.ALLOW


def _may_keep_beside(text: str, policy: Policy) -> bool:
    """Return whether what came of a text may be kept: it looks planted neither to a rule nor, by its words, to the
    head."""
    return screen(text, policy).verdict is not Verdict.QUARANTINE and not is_likely(text)


def _text(topic: OpenTopic | None) -> str | None:
    return topic.text if topic else None


def _last_words(turn: Turn) -> str:
    """Return what the assistant said last, if the user did not speak after it."""
    last = next((m for m in reversed(turn.messages) if m.role in ("user", "assistant")), None)
    return last.content if last is not None and last.role == "assistant" else ""


def _secret_left_open(turn: Turn) -> str | None:
    """Return what asks for a secret, or stands for one that was begun, at the end of a turn; nothing of the secret."""
    if asked := asking_sentence(_last_words(turn)):
        return asked[:MAX_QUESTION_CHARS]
    spoken = [message.content for message in turn.messages if message.role == "user"]
    if spoken and is_begun(spoken[-1]):
        return _BEGUN
    return _ANNOUNCED if spoken and is_announced(spoken[-1]) else None


def _question(admitted: AdmittedTurn, preferences: SpokenPreferences, policy: Policy) -> Question | None:
    if _NOT_KEPT & set(admitted.admission.reasons):
        return None
    if secret := _secret_left_open(admitted.turn):
        return Question(conversation_id=admitted.turn.conversation_id, text=secret, turn_id=admitted.turn.turn_id)
    question = question_of(_last_words(admitted.turn))
    if question is None or len(question) > MAX_QUESTION_CHARS:
        return None
    # The assistant may repeat in its own words what the user had better not said: then nothing of the turn stays.
    topics = preferences.topics(admitted.turn.turn_id)
    if not all(_may_keep(message.content, topics, policy) for message in admitted.turn.messages):
        return None
    return Question(conversation_id=admitted.turn.conversation_id, text=question, turn_id=admitted.turn.turn_id)
