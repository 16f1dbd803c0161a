"""Context that one batch of turns leaves for the next: open topics, unanswered questions, a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy import Connection, Select, Table, Text, bindparam, delete, literal, null, select, type_coerce, union_all

import stores.catalog.tables as tables
from schema import Context, OpenTopic, PreferenceName, Question, RecentTurn, Status, Subject
from stores.catalog.preferences import preferences_of
from stores.catalog.statements import any_of, of_bound_subject, subject_parameters, upsert

_NAMES = ("preferred_name", "name")
_USER = "user"


_topics, _questions, _facts, _memories = tables.open_topics, tables.questions, tables.facts, tables.memories
_preferences, _recent = tables.preferences, tables.recent_turns
_TURNS = TypeAdapter(tuple[RecentTurn, ...])
PARTS: Final[tuple[Select[Any], ...]] = (
    select(literal("topic").label("what"), _topics.c.agent_id, _topics.c.topic, _topics.c.turn_id).where(
        of_bound_subject(_topics), _topics.c.since >= bindparam("topics_since")
    ),
    select(literal("question"), _questions.c.conversation_id, _questions.c.question, _questions.c.turn_id).where(
        of_bound_subject(_questions),
        _questions.c.conversation_id.in_(any_of("conversations")),
        _questions.c.since >= bindparam("questions_since"),
    ),
    select(literal("recent"), _recent.c.conversation_id, _recent.c.turns, null()).where(
        of_bound_subject(_recent),
        _recent.c.conversation_id.in_(any_of("conversations")),
        _recent.c.since >= bindparam("questions_since"),
    ),
    select(literal("name"), _facts.c.attribute, _facts.c.object, null())
    .join(_memories, _memories.c.id == _facts.c.memory_id)
    .where(
        of_bound_subject(_facts),
        _facts.c.entity == _USER,
        _facts.c.attribute.in_(_NAMES),
        _memories.c.status == Status.ACTIVE,
    ),
    select(
        literal("preference"), _preferences.c.name, _preferences.c.value, type_coerce(_preferences.c.since, Text)
    ).where(of_bound_subject(_preferences)),
)
"""The parts of the context of some conversations, as rows of what it is, a key, a text, and a turn or a moment."""
_READ = union_all(*PARTS)
_CLOSE = delete(_topics).where(of_bound_subject(_topics), _topics.c.agent_id.in_(any_of("agents")))
_ANSWER = delete(_questions).where(
    of_bound_subject(_questions), _questions.c.conversation_id.in_(any_of("conversations"))
)
_OVER = delete(_recent).where(of_bound_subject(_recent), _recent.c.conversation_id.in_(any_of("conversations")))
_DROP_ALL = tuple(delete(table).where(of_bound_subject(table)) for table in (_topics, _questions, _recent))


def read_context(
    connection: Connection,
    subject: Subject,
    conversation_ids: Iterable[str],
    *,
    topics_since: datetime,
    questions_since: datetime,
) -> Context:
    """Return what a subject's earlier turns left that is not older than these moments; questions of these
    conversations."""
    asked = parameters(subject, conversation_ids, topics_since=topics_since, questions_since=questions_since)
    return context_from([tuple(row) for row in connection.execute(_READ, asked)])


def parameters(
    subject: Subject, conversation_ids: Iterable[str], *, topics_since: datetime, questions_since: datetime
) -> dict[str, Any]:
    """Return the parameters that `PARTS` leave open."""
    return subject_parameters(subject) | {
        "conversations": list(conversation_ids),
        "topics_since": topics_since,
        "questions_since": questions_since,
    }


def context_from(rows: Sequence[tuple[Any, ...]]) -> Context:
    """Return the context that rows of `PARTS` tell; others are passed over."""
    names = {key: text for kind, key, text, _ in rows if kind == "name"}
    return Context(
        open_topics={
            key or None: OpenTopic(agent_id=key or None, text=text, turn_id=turn_id)
            for kind, key, text, turn_id in rows
            if kind == "topic"
        },
        questions={
            key: Question(conversation_id=key, text=text, turn_id=turn_id)
            for kind, key, text, turn_id in rows
            if kind == "question"
        },
        name=next((names[attribute] for attribute in _NAMES if attribute in names), None),
        preferences=preferences_of((key, text) for kind, key, text, _ in rows if kind == "preference"),
        consent_since=next(
            (
                datetime.fromisoformat(since)
                for kind, key, _, since in rows
                if kind == "preference" and key == PreferenceName.CONSENT
            ),
            None,
        ),
        recent=tuple(turn for kind, _, text, _ in rows if kind == "recent" for turn in _TURNS.validate_json(text)),
    )


def read_topics(connection: Connection, subject: Subject) -> list[tuple[OpenTopic, datetime]]:
    """Return all open topics of a subject with since when they are open, latest first, stale ones too."""
    columns = _topics.c.agent_id, _topics.c.topic, _topics.c.turn_id, _topics.c.since
    rows = connection.execute(
        select(*columns).where(of_bound_subject(_topics)).order_by(_topics.c.since.desc()), subject_parameters(subject)
    )
    return [(OpenTopic(agent_id=agent or None, text=text, turn_id=turn), since) for agent, text, turn, since in rows]


def write_topics(
    connection: Connection, subject: Subject, topics: Mapping[str | None, OpenTopic | None], at: datetime
) -> None:
    """Keep the topic that is open with each of these agents, and none where none is."""
    if over := [agent or "" for agent, topic in topics.items() if topic is None]:
        connection.execute(_CLOSE, subject_parameters(subject) | {"agents": over})
    rows = [
        subject.model_dump() | {"agent_id": agent or "", "topic": topic.text, "turn_id": topic.turn_id, "since": at}
        for agent, topic in topics.items()
        if topic is not None
    ]
    if rows:
        connection.execute(_upsert(connection.dialect.name, _topics), rows)


def write_questions(
    connection: Connection, subject: Subject, questions: Mapping[str, Question | None], at: datetime
) -> None:
    """Keep what was asked last in each of these conversations, and nothing where nothing was."""
    if over := [conversation for conversation, question in questions.items() if question is None]:
        connection.execute(_ANSWER, subject_parameters(subject) | {"conversations": over})
    rows = [
        subject.model_dump()
        | {"conversation_id": conversation, "question": asked.text, "turn_id": asked.turn_id, "since": at}
        for conversation, asked in questions.items()
        if asked is not None
    ]
    if rows:
        connection.execute(_upsert(connection.dialect.name, _questions), rows)


def write_recent(
    connection: Connection, subject: Subject, recent: Mapping[str, tuple[RecentTurn, ...]], at: datetime
) -> None:
    """Keep the last turns of each of these conversations, and nothing where there are none."""
    if over := [conversation for conversation, turns in recent.items() if not turns]:
        connection.execute(_OVER, subject_parameters(subject) | {"conversations": over})
    rows = [
        subject.model_dump() | {"conversation_id": conversation, "turns": _TURNS.dump_json(turns).decode(), "since": at}
        for conversation, turns in recent.items()
        if turns
    ]
    if rows:
        connection.execute(_upsert(connection.dialect.name, _recent), rows)


def drop_context(connection: Connection, subject: Subject) -> None:
    """Drop all topics, questions and recent turns of a subject: what was forgotten may be spoken of in them."""
    for statement in _DROP_ALL:
        connection.execute(statement, subject_parameters(subject))


def drop_stale_context(connection: Connection, *, topics_before: datetime, questions_before: datetime) -> int:
    """Drop what is older than these moments, of all subjects, and answer how many rows that were."""
    gone = (
        connection.execute(delete(_topics).where(_topics.c.since < topics_before)),
        connection.execute(delete(_questions).where(_questions.c.since < questions_before)),
        connection.execute(delete(_recent).where(_recent.c.since < questions_before)),
    )
    return sum(result.rowcount for result in gone)


@cache
def _upsert(dialect: str, table: Table) -> Any:
    statement = upsert(dialect, table)
    keys = [column.name for column in table.primary_key]
    others = {column.name: statement.excluded[column.name] for column in table.columns if column.name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=others)
