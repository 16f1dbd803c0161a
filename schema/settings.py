"""Every setting of the house, in one place, read from the environment once and checked at start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableSetting

from schema import Policy
from schema.cron import Cron
from schema.errors import SettingsError
from schema.urls import http_url, without_password

PREFIX = "AFTERTURN_"
T = TypeVar("T", bound=BaseSettings)
_PLUGIN = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"
_EXTRACTOR = rf"^(rules|llm|{_PLUGIN})$"
_EMBEDDER = rf"^(minilm|onnx|bedrock|openai|{_PLUGIN})$"
_LLM = rf"^(none|bedrock|openai|{_PLUGIN})$"


class _PolicyVariables(BaseSettings, Policy):
    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_file=".env")


class Settings(BaseSettings):
    """Where things are and how much of them. Each is set by `AFTERTURN_` and its name in capitals, in the
    environment or in a file `.env`; the constants of the policies go by their own names (see `Policy`)."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore", frozen=True)

    data_dir: Path = Field(Path("data"), description="folder of the embedded catalog, index and broker")
    broker_url: str = Field(
        "redis://127.0.0.1:6390/0", description="the Redis or Valkey of queues and mailboxes; one of its own"
    )
    catalog_url: str | None = Field(
        None,
        description="SQLAlchemy URL of the catalog, such as postgresql+psycopg://user:password@host/afterturn; unset: "
        "SQLite in the data folder",
    )
    index: Literal["sqlite", "pgvector", "s3vectors", "qdrant", "weaviate"] = Field(
        "sqlite",
        description="where vectors are searched: sqlite, pgvector in the catalog's Postgres, s3vectors, qdrant or "
        "weaviate",
    )
    index_url: str | None = Field(
        None, description="base URL of the index's server, with qdrant or weaviate, such as http://127.0.0.1:6333"
    )
    index_grpc_url: str | None = Field(
        None, description="base URL of Weaviate's gRPC; unset: port 50051 of the same host"
    )
    index_api_key: SecretStr | None = Field(
        None, description="key of the index's server, with qdrant or weaviate, if it asks for one; never shown"
    )
    index_prefix: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] = Field(
        "afterturn",
        description="what names of collections begin with, with qdrant or weaviate: this, _ and the index's name",
    )
    index_timeout_seconds: Annotated[float, Field(ge=1, le=600)] = Field(
        10.0, description="how long a call of the index's server may take, with qdrant or weaviate"
    )
    s3vectors_bucket: str | None = Field(None, description="the vector bucket of Amazon S3 Vectors, with s3vectors")
    index_name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] = Field(
        "main", description="the name of the index; another one is made beside it, such as for a new embedder"
    )
    hnsw_from: Annotated[int, Field(ge=100)] = Field(
        20_000, description="memories of one user from which pgvector searches them by an HNSW graph of their own"
    )
    graph: Literal["sql", "age"] = Field(
        "sql", description="where facts are walked: sql, in the catalog's tables, or age, Apache AGE in its Postgres"
    )
    embedder: Annotated[str, Field(pattern=_EMBEDDER)] = Field(
        "minilm",
        description="what makes vectors of summaries: minilm, onnx (a folder), bedrock, openai (any endpoint that "
        "speaks its protocol), or package.module:function of your own",
    )
    embedder_model: str | None = Field(
        None, description="the embedder's model: with onnx its folder; unset: Titan V2 with bedrock; openai needs one"
    )
    embedder_url: str | None = Field(
        None, description="base URL of the embedder's endpoint with openai; unset: OpenAI's own"
    )
    embedder_api_key: SecretStr | None = Field(
        None, description="key of the embedder's endpoint with openai, if it asks for one; never shown"
    )
    embedder_dimensions: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None,
        description="how many numbers a vector has; unset: 1024 with bedrock (or 256, 512), the model's own with onnx; "
        "openai needs it",
    )
    embedder_pooling: Literal["mean", "cls"] | None = Field(
        None, description="how vectors of tokens become one with onnx; unset: as the folder says, else mean"
    )
    embedder_prefix: str = Field(
        "", description='what the embedder\'s model wants before each text, such as "clustering: " (not with minilm)'
    )
    embedder_timeout_seconds: Annotated[float, Field(gt=0, le=600)] = Field(
        10.0, description="how long a call of an embedder that is not here may take"
    )
    extractor: Annotated[str, Field(pattern=_EXTRACTOR)] = Field(
        "rules",
        description="what makes candidates of turns: rules, llm (rules first, then the language model), or "
        "package.module:function of your own",
    )
    llm: Annotated[str, Field(pattern=_LLM)] = Field(
        "none",
        description="the language model: none, bedrock, openai (any endpoint that speaks its protocol), or "
        "package.module:function that opens a provider of your own",
    )
    llm_model: str | None = Field(
        None, description="the language model's name or id; unset: Nova Micro with bedrock; openai needs one"
    )
    llm_url: str | None = Field(
        None,
        description="base URL of the endpoint with openai, such as http://127.0.0.1:8000/v1; unset: OpenAI's own",
    )
    llm_api_key: SecretStr | None = Field(
        None, description="key of the endpoint with openai, if it asks for one; never shown"
    )
    llm_timeout_seconds: Annotated[float, Field(gt=0, le=600)] = Field(
        30.0, description="how long a call of the language model may take"
    )
    llm_max_answer_tokens: Annotated[int, Field(ge=64, le=100_000)] = Field(
        4096, description="tokens that an answer of the language model may have"
    )
    llm_concurrency: Annotated[int, Field(ge=0)] = Field(
        0, description="calls of the language model that the whole fleet has under way at most; 0: no cap"
    )
    llm_requests_per_minute: Annotated[int, Field(ge=0)] = Field(
        0, description="calls of the language model that the whole fleet starts a minute at most; 0: no cap"
    )
    llm_fallback: Literal["retry", "rules"] = Field(
        "retry",
        description="what becomes of turns for which the language model fails: retry keeps them and asks again later, "
        "rules takes what the rules make of them",
    )
    llm_price_prompt: Annotated[float, Field(ge=0)] = Field(
        0.0, description="what a million prompt tokens cost, in any currency; counted in afterturn_llm_cost_total"
    )
    llm_price_completion: Annotated[float, Field(ge=0)] = Field(
        0.0, description="what a million completion tokens cost, in the same currency"
    )
    aws_region: str | None = Field(
        None,
        description="AWS region of Bedrock and S3 Vectors; unset: as boto3 finds it, as the credentials always are",
    )
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
    lease_seconds: Annotated[float, Field(ge=1, le=3600)] = Field(
        30.0, description="how long a silent worker keeps a subject's mailbox before another may take it"
    )
    sweep_seconds: Annotated[float, Field(ge=0.5, le=3600)] = Field(
        5.0, description="how often beat rings the mailboxes that nobody holds"
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
    night_chunk_subjects: Annotated[int, Field(ge=1, le=10_000)] = Field(
        500, description="subjects that a worker takes at a time for a nightly job"
    )
    night_memories: Annotated[int, Field(ge=10, le=100_000)] = Field(
        2_000, description="memories of one subject that a nightly job takes up in one night at most, the latest first"
    )
    night_hands: Annotated[int, Field(ge=1, le=1024)] = Field(
        4, description="slots of the whole fleet that one run of a nightly job may have at a time"
    )
    max_deliveries: Annotated[int, Field(ge=1, le=100)] = Field(
        5, description="workers that may die over a turn before it becomes a dead letter"
    )
    max_failures: Annotated[int, Field(ge=1, le=100)] = Field(
        10, description="failures of a turn, with growing pauses, before it becomes a dead letter"
    )
    tenant_seats: Annotated[int, Field(ge=1)] = Field(
        128, description="users of one tenant that may be under way or in work at a time; the others wait in line"
    )
    event_stream_length: Annotated[int, Field(ge=1)] = Field(
        1000, description="events kept per subject for readers that come back"
    )
    enqueue_budget_ms: Annotated[float, Field(ge=5, le=60_000)] = Field(
        50.0, description="how long `enqueue` may take, in milliseconds, whatever the broker does"
    )
    max_ahead_seconds: Annotated[float, Field(ge=0)] = Field(
        86_400.0, description="how far ahead of this machine's clock a turn may say that it was said"
    )
    clock_tolerance_seconds: Annotated[float, Field(ge=0)] = Field(
        300.0,
        description="how far a sender's clock may be behind the broker's: what was said longer before an erasure, and "
        "comes after it, is refused",
    )
    spool_dir: Path | None = Field(
        None,
        description="folder on a local disk where a producer keeps turns while the broker is away; unset: "
        "`spool` in the data folder",
    )
    spool_max_turns: Annotated[int, Field(ge=1)] = Field(100_000, description="turns that one spool may hold")
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
    http_host: str = Field(
        "127.0.0.1", description="address on which the service listens; others than this machine's need keys"
    )
    http_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        8000, description="port on which the service listens; 0: `afterturn run` starts none"
    )
    http_max_body_bytes: Annotated[int, Field(ge=1024)] = Field(
        1024 * 1024, description="bytes that a request to the service may have"
    )
    http_reads_per_minute: Annotated[int, Field(ge=0)] = Field(
        600, description="requests a minute that one key may make to read; 0: no limit"
    )
    http_writes_per_minute: Annotated[int, Field(ge=0)] = Field(
        60, description="requests a minute that one key may make to change something, turns apart; 0: no limit"
    )
    http_llm_per_minute: Annotated[int, Field(ge=0)] = Field(
        30,
        description="requests a minute of one key for which the language model may be asked, where there is one; "
        "0: no limit",
    )
    http_turns_per_minute: Annotated[int, Field(ge=0)] = Field(
        0, description="turns a minute that one key may send; 0: no limit beside AFTERTURN_MAX_PENDING_TURNS"
    )
    http_metrics_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        0, description="port on which the service shows its metrics, as a worker does on its own; 0: none"
    )
    mcp_tools: tuple[str, ...] = Field(
        ("search_memory", "create_memory", "get_memory", "update_memory", "delete_memory"),
        description="the tools that clients of the Model Context Protocol are offered, as a JSON list",
        min_length=1,
    )
    mcp_key: SecretStr | None = Field(
        None, description="key for whom `afterturn mcp` asks; unset: for whom its options name; never shown"
    )
    tracing: Literal["off", "otlp", "console"] = Field(
        "off", description="where a worker sends OpenTelemetry spans; needs the extra `otel`"
    )
    memory_batch_turns: Annotated[int, Field(ge=1, le=100)] = Field(
        8,
        validation_alias="MEMORY_BATCH_TURNS",
        description="pending turns of one subject that are extracted together",
    )

    @field_validator("broker_url")
    @classmethod
    def _is_redis(cls, url: str) -> str:
        if not url.startswith(("redis://", "rediss://")):
            raise ValueError("must start with redis:// or rediss://, such as redis://127.0.0.1:6390/0")
        return url

    @field_validator("night_consolidate", "night_promote", "night_forget")
    @classmethod
    def _is_cron(cls, moments: str) -> str:
        if moments.strip():
            Cron.parse(moments)
        return moments.strip()

    @field_validator("llm_url", "embedder_url", "index_url", "index_grpc_url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        return None if url is None else http_url(url)

    @field_validator("*", mode="before")
    @classmethod
    def _empty_is_unset(cls, value: object, info: ValidationInfo) -> object:
        is_optional = cls.model_fields[str(info.field_name)].default is None
        return None if value == "" and is_optional else value

    @model_validator(mode="after")
    def _what_lies_in_postgres_has_one(self) -> Self:
        lies_there = {
            "AFTERTURN_INDEX: pgvector": self.index == "pgvector",
            "AFTERTURN_GRAPH: age": self.graph == "age",
        }
        for setting, is_there in lies_there.items():
            if is_there and not self.effective_catalog_url.startswith("postgres"):
                raise ValueError(
                    f"{setting} lies in the catalog's Postgres; set AFTERTURN_CATALOG_URL, such as "
                    "postgresql+psycopg://user:password@host/afterturn"
                )
        return self

    @property
    def index_dir(self) -> Path:
        """The folder of the embedded index."""
        return self.data_dir / ("index" if self.index_name == "main" else f"index-{self.index_name}")

    @property
    def effective_spool_dir(self) -> Path:
        """The folder of the spool, with the default filled in."""
        return (self.spool_dir or self.data_dir / "spool").absolute()

    @property
    def broker_shown(self) -> str:
        """The broker's URL without its password, for people and logs."""
        return without_password(self.broker_url)

    @property
    def effective_catalog_url(self) -> str:
        """The catalog's URL, with the embedded default filled in."""
        return self.catalog_url or f"sqlite:///{self.data_dir.absolute() / 'catalog.sqlite3'}"


def variable_of(field: str) -> str:
    """Return the environment variable that sets a field of `Settings` or `Policy`."""
    if field in Policy.model_fields:
        return field.upper()
    info = Settings.model_fields[field]
    return str(info.validation_alias) if info.validation_alias else f"{PREFIX}{field.upper()}"


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        field = str(problem["loc"][0]) if problem["loc"] else ""
        known = field in Settings.model_fields or field in Policy.model_fields
        name = variable_of(field) if known else field or "settings"
        given = f", not {problem['input']!r}" if problem["type"] != "value_error" and field else ""
        lines.append(f"{name}: {problem['msg'].removeprefix('Value error, ')}{given}")
    return "\n".join(lines)


def _refuse_unknown_variables() -> None:
    known = {variable_of(field) for field in Settings.model_fields}
    given = {*os.environ, *dotenv_values(".env")}
    unknown = sorted(name for name in given if name.startswith(PREFIX) and name not in known)
    if not unknown:
        return
    way_out = "`afterturn settings` lists them all"
    if any(name.endswith("_SERVICE_HOST") for name in unknown):
        way_out = "Kubernetes sets them for a Service of that name; set enableServiceLinks: false for the pod"
    raise SettingsError(f"{', '.join(unknown)}: no such setting; {way_out}")


def _read(settings: type[T]) -> T:
    try:
        return settings()
    except ValidationError as error:
        raise SettingsError(_explain(error)) from error
    except UnreadableSetting as error:
        fields = [field for field in settings.model_fields if f'"{field}"' in str(error)]
        names = ", ".join(map(variable_of, fields)) or "settings"
        raise SettingsError(f'{names}: takes JSON, a list such as ["Personal", "Other"]') from error


def load_settings() -> Settings:
    """Return the settings from the environment and `.env`.

    Raises:
        SettingsError: a variable holds what cannot work, or is unknown; the message names it.
    """
    _refuse_unknown_variables()
    return _read(Settings)


def load_policy() -> Policy:
    """Return the policy constants from the environment, on Titan v2's scale until `Policy.on_scale_of` is applied.

    Raises:
        SettingsError: a variable holds what cannot work; the message names it.
    """
    variables = _read(_PolicyVariables)
    return Policy.model_validate({name: getattr(variables, name) for name in variables.model_fields_set})
