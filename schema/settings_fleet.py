"""Settings of the fleet: turns, nights, producers and what workers say of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings

from schema.cron import Cron

_CENTURY_SECONDS = 36_500 * 86_400
"""As good as for ever: further ahead the calendar ends."""


class FleetSettings(BaseSettings):
    """Settings of producers, workers and nights: how much at once, and for how long."""

    turn_deadline_seconds: Annotated[float, Field(ge=10, le=86_400)] = Field(
        600.0, description="how long a worker may have one batch of turns in hand before it counts as stuck and ends"
    )
    categories: tuple[str, ...] = Field(
        ("Finance", "Budget", "Goals", "Personal", "Education", "Conversation_Summary", "Other"),
        description="the categories of memories, as a JSON list; the last one is the default",
        min_length=1,
    )
    worker_slots: Annotated[int, Field(ge=1, le=1024)] = Field(
        64, description="turns that one worker process has in hand at a time (threads)"
    )
    shutdown_seconds: Annotated[float, Field(ge=1, le=86_400)] = Field(
        45.0,
        description="how long a worker that is asked to end may go on with what it has in hand; what it has then it "
        "gives back, and ends. Keep it below the time after which whoever asks kills it",
    )
    lease_seconds: Annotated[float, Field(ge=1, le=3600)] = Field(
        30.0, description="how long a silent worker keeps a subject's mailbox before another may take it"
    )
    sweep_seconds: Annotated[float, Field(ge=0.5, le=3600)] = Field(
        5.0, description="how often beat notifies workers of mailboxes that nobody holds"
    )
    night_consolidate: str = Field(
        "0 2 * * *",
        description="when a subject's episodes are condensed: five fields of cron, by the subject's clock, or in UTC "
        "where that is not known; empty: never",
    )
    night_promote: str = Field("0 3 * * *", description="when what came up again and again becomes lasting, as above")
    night_forget: str = Field("0 4 * * *", description="when what nobody needs is archived or deleted, as above")
    source_days: Annotated[int, Field(ge=0, le=36_500)] = Field(
        0,
        description="days for which raw turns are kept, those apart that a legal hold needs; 0: for as long as a "
        "memory needs them",
    )
    cost_days: Annotated[int, Field(ge=0, le=36_500)] = Field(
        400,
        description="days for which it is kept what models were asked for, by conversation and day: a year and a "
        "month, so that a month can be compared with that of the year before; 0: for ever",
    )
    night_chunk_subjects: Annotated[int, Field(ge=1, le=10_000)] = Field(
        500, description="subjects that a worker takes at a time for a nightly job"
    )
    night_memories: Annotated[int, Field(ge=10, le=100_000)] = Field(
        2_000, description="memories of one subject that a nightly job takes up in one night at most, the latest first"
    )
    night_slots: Annotated[int, Field(ge=1, le=1024)] = Field(
        4,
        validation_alias=AliasChoices("AFTERTURN_NIGHT_SLOTS", "AFTERTURN_NIGHT_HANDS"),
        description="slots of the whole fleet that one run of a nightly job may have at a time",
    )
    worker_memory_mb: Annotated[int, Field(ge=0)] = Field(
        0,
        description="megabytes of memory past which a worker takes no more and ends when it has finished what it has "
        "in hand, a quarter past that at once; its supervisor starts a new one, and no turn is lost; 0: no bound. Set "
        "it below the container's limit; needs Linux",
    )
    max_deliveries: Annotated[int, Field(ge=1, le=100)] = Field(
        5, description="workers that may die over a turn before it becomes a dead letter"
    )
    max_failures: Annotated[int, Field(ge=1, le=100)] = Field(
        10, description="failures of a turn, with growing pauses, before it becomes a dead letter"
    )
    tenant_slots: Annotated[int, Field(ge=1)] = Field(
        128,
        validation_alias=AliasChoices("AFTERTURN_TENANT_SLOTS", "AFTERTURN_TENANT_SEATS"),
        description="users of one tenant that may be under way or in work at a time; the others wait in line",
    )
    event_stream_length: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        1000, description="events kept per subject for readers that come back"
    )
    enqueue_budget_ms: Annotated[float, Field(ge=5, le=60_000)] = Field(
        50.0, description="how long `enqueue` may take, in milliseconds, whatever the broker does"
    )
    max_ahead_seconds: Annotated[float, Field(ge=0, le=_CENTURY_SECONDS)] = Field(
        86_400.0, description="how far ahead of this machine's clock a turn may say that it was said"
    )
    clock_tolerance_seconds: Annotated[float, Field(ge=0, le=_CENTURY_SECONDS)] = Field(
        300.0,
        description="how far a sender's clock may be behind the broker's: what was said before an erasure, and is "
        "enqueued after it and so much later than it was said, is refused, and what was said longer before "
        "what it contradicts, forgets or withdraws changes nothing of it",
    )
    spool_dir: Path | None = Field(
        None,
        description="folder on a local disk where a producer keeps turns while the broker is away; unset: "
        "`spool` in the data folder",
    )
    spool_max_turns: Annotated[int, Field(ge=0)] = Field(
        100_000,
        description="turns that one spool may hold; 0: none, where the disk does not outlast the process: a turn that "
        "the broker does not take is then refused",
    )
    spool_max_bytes: Annotated[int, Field(ge=1024 * 1024)] = Field(
        1024**3, description="bytes of turns that one spool may hold; beside them, a log of up to 8 KB a turn"
    )
    max_pending_turns: Annotated[int, Field(ge=1)] = Field(
        100_000, description="pending turns of all users beyond which producers are told that the fleet is overloaded"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="how much the fleet logs")
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        0, description="port on which a worker shows its metrics to Prometheus, under /metrics; 0: none"
    )
    metrics_address: str = Field(
        "127.0.0.1", description="address on which a worker shows its metrics; 0.0.0.0: to all that can reach it"
    )
    task_events: bool = Field(
        False, description="let workers send Celery's task events from their start, for Flower; they cost CPU"
    )

    @field_validator("night_consolidate", "night_promote", "night_forget")
    @classmethod
    def _is_cron(cls, moments: str) -> str:
        if moments.strip():
            Cron.parse(moments)
        return moments.strip()
