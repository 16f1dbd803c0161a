"""What one batch of turns is told by the ones before it, and what it leaves for the next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice

from memory.spoken_preferences import Wishes
from policies.admission import admit
from policies.privacy.asked import without_answers
from policies.privacy.screen import screen
from schema import (
    MAX_QUESTION_CHARS,
    AdmissionAction,
    AdmittedTurn,
    Context,
    Extraction,
    ForgetRequest,
    OpenTopic,
    Policy,
    Question,
    Subject,
    Turn,
    Verdict,
)
from worker.context import WorkerContext
from worker.extract.answers import question_of

_NOT_KEPT = {"consent_withdrawn", "off_the_record"}


def context_of(subject: Subject, turns: Sequence[Turn], context: WorkerContext, now: datetime) -> Context:
    """What earlier batches left for these turns, as long as it is fresh."""
    return context.catalog.context(
        subject,
        {turn.conversation_id for turn in turns},
        topics_since=now - timedelta(hours=context.policy.open_topic_hours),
        questions_since=now - timedelta(hours=context.policy.question_hours),
    )


def admitted(turns: Sequence[Turn], context: Context) -> list[AdmittedTurn]:
    """The turns with what admission says of each, which knows what was asked before it in its conversation."""
    asked = {conversation: question.text for conversation, question in context.questions.items()}
    found = []
    for turn in turns:
        found.append(AdmittedTurn(turn, admit(turn, asked.pop(turn.conversation_id, ""))))
        if text := _said_last(turn):
            asked[turn.conversation_id] = text
    return found


def name_of(turns: Sequence[Turn], context: Context) -> str | None:
    """What the user is called: as the latest message that says so has it, or as they once said."""
    return next((name for turn in reversed(turns) if (name := turn.user_name())), context.name)


def without_told_secrets(turns: Sequence[Turn], context: Context) -> list[Turn]:
    """The turns without the secrets that only what was said before them tells from other words."""
    said: dict[str, list[Turn]] = {}
    for turn in turns:
        said.setdefault(turn.conversation_id, []).append(turn)
    kept: dict[str, Turn] = {}
    for conversation, some in said.items():
        question = context.questions.get(conversation)
        messages = iter(without_answers([m for t in some for m in t.messages], question.text if question else ""))
        for turn in some:
            told = tuple(islice(messages, len(turn.messages)))
            kept[turn.turn_id] = turn if told == turn.messages else turn.model_copy(update={"messages": told})
    return [kept[turn.turn_id] for turn in turns]


def questions_after(
    turns: Sequence[AdmittedTurn], context: Context, wishes: Wishes, policy: Policy
) -> dict[str, Question | None]:
    """What changes of what is still to be answered in the conversations of these turns."""
    left = {one.turn.conversation_id: _question(one, wishes, policy) for one in turns}
    return {
        conversation: question
        for conversation, question in left.items()
        if question is not None or conversation in context.questions
    }


def topics_after(
    extraction: Extraction, turns: Sequence[AdmittedTurn], context: Context, wishes: Wishes, policy: Policy
) -> dict[str | None, OpenTopic | None]:
    """What changes of what is open with the agents of these turns.

    Whatever is open is closed when the user asks for something to be forgotten: it may be of that.
    """
    if any(isinstance(item, ForgetRequest) for item in extraction.items):
        return dict.fromkeys(context.open_topics)
    agents = {one.turn.agent_id for one in turns if one.admission.action is not AdmissionAction.SKIP}
    said = {one.turn.turn_id: one.turn.text_of("user") for one in turns}
    left = {
        topic.agent_id: topic
        for topic in extraction.open_topics
        if topic.turn_id not in wishes.withheld
        and _may_keep(topic.text, wishes.topics(topic.turn_id), policy)
        and screen(said.get(topic.turn_id, ""), policy).verdict is not Verdict.QUARANTINE
    }
    return {
        agent: left.get(agent) for agent in agents if _text(left.get(agent)) != _text(context.open_topics.get(agent))
    }


def _may_keep(text: str, blocked_topics: Sequence[str], policy: Policy) -> bool:
    return screen(text, policy, blocked_topics=blocked_topics).verdict is Verdict.ALLOW


def _text(topic: OpenTopic | None) -> str | None:
    return topic.text if topic else None


def _said_last(turn: Turn) -> str:
    """What the assistant said last, if the user did not speak after it."""
    last = next((m for m in reversed(turn.messages) if m.role in ("user", "assistant")), None)
    return last.content if last is not None and last.role == "assistant" else ""


def _question(one: AdmittedTurn, wishes: Wishes, policy: Policy) -> Question | None:
    question = question_of(_said_last(one.turn))
    if question is None or len(question) > MAX_QUESTION_CHARS or _NOT_KEPT & set(one.admission.reasons):
        return None
    # The assistant may repeat in its own words what the user had better not said: then nothing of the turn stays.
    topics = wishes.topics(one.turn.turn_id)
    if not all(_may_keep(message.content, topics, policy) for message in one.turn.messages):
        return None
    return Question(conversation_id=one.turn.conversation_id, text=question, turn_id=one.turn.turn_id)
