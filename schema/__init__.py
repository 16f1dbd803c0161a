"""The words of the house as values: what every room may know."""

from schema.admitted import AdmittedTurn
from schema.audit import AuditAction, AuditEntry
from schema.candidate import Candidate, Certainty, Change, Extraction, ForgetRequest
from schema.context import MAX_QUESTION_CHARS, MAX_TOPIC_CHARS, Context, OpenTopic, Question
from schema.decision import (
    Admission,
    AdmissionAction,
    Decision,
    DecisionAction,
    SameFact,
    Screening,
    Thresholds,
    Verdict,
)
from schema.event import Event, EventName
from schema.memory import (
    MAX_SUMMARY_CHARS,
    Entity,
    EntityType,
    Fact,
    Kind,
    Memory,
    MemoryType,
    Status,
    Valence,
    Visibility,
    index_key,
    memory_id,
    utc_iso,
)
from schema.policy import Policy
from schema.preferences import MAX_BLOCKED_TOPICS, Preference, PreferenceName, Preferences
from schema.review import Asker, Review, ReviewStatus, Settlement
from schema.tombstone import Scope, Tombstone
from schema.turn import MAX_TURN_BYTES, SCHEMA_VERSION, Attachment, Message, Role, Subject, Turn

__all__ = [
    "MAX_BLOCKED_TOPICS",
    "MAX_QUESTION_CHARS",
    "MAX_SUMMARY_CHARS",
    "MAX_TOPIC_CHARS",
    "MAX_TURN_BYTES",
    "SCHEMA_VERSION",
    "Admission",
    "AdmissionAction",
    "AdmittedTurn",
    "Asker",
    "Attachment",
    "AuditAction",
    "AuditEntry",
    "Candidate",
    "Certainty",
    "Change",
    "Context",
    "Decision",
    "DecisionAction",
    "Entity",
    "EntityType",
    "Event",
    "EventName",
    "Extraction",
    "Fact",
    "ForgetRequest",
    "Kind",
    "Memory",
    "MemoryType",
    "Message",
    "OpenTopic",
    "Policy",
    "Preference",
    "PreferenceName",
    "Preferences",
    "Question",
    "Review",
    "ReviewStatus",
    "Role",
    "SameFact",
    "Scope",
    "Screening",
    "Settlement",
    "Status",
    "Subject",
    "Thresholds",
    "Tombstone",
    "Turn",
    "Valence",
    "Verdict",
    "Visibility",
    "index_key",
    "memory_id",
    "utc_iso",
]
