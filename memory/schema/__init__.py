"""The words of the house as values: what every room may know."""

from memory.schema.audit import AuditAction, AuditEntry
from memory.schema.candidate import Candidate, Extraction, ForgetRequest
from memory.schema.context import MAX_QUESTION_CHARS, MAX_TOPIC_CHARS, Context, OpenTopic, Question
from memory.schema.decision import (
    Admission,
    AdmissionAction,
    Decision,
    DecisionAction,
    SameFact,
    Screening,
    Thresholds,
    Verdict,
)
from memory.schema.event import Event, EventName
from memory.schema.memory import (
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
from memory.schema.policy import Policy
from memory.schema.preferences import MAX_BLOCKED_TOPICS, Preference, PreferenceName, Preferences
from memory.schema.review import Asker, Review, ReviewStatus, Settlement
from memory.schema.turn import MAX_TURN_BYTES, SCHEMA_VERSION, Attachment, Message, Role, Subject, Turn

__all__ = [
    "MAX_BLOCKED_TOPICS",
    "MAX_QUESTION_CHARS",
    "MAX_SUMMARY_CHARS",
    "MAX_TOPIC_CHARS",
    "MAX_TURN_BYTES",
    "SCHEMA_VERSION",
    "Admission",
    "AdmissionAction",
    "Asker",
    "Attachment",
    "AuditAction",
    "AuditEntry",
    "Candidate",
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
    "Screening",
    "Settlement",
    "Status",
    "Subject",
    "Thresholds",
    "Turn",
    "Valence",
    "Verdict",
    "Visibility",
    "index_key",
    "memory_id",
    "utc_iso",
]
