"""Settings of where things are held, and of the models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from schema.document import MAX_DOCUMENT_BYTES
from schema.turn import Identifier
from schema.urls import http_url

_PLUGIN = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"
_EXTRACTOR = rf"^(rules|llm|{_PLUGIN})$"
_EMBEDDER = rf"^(minilm|multilingual|onnx|bedrock|openai|{_PLUGIN})$"
_LLM = rf"^(none|bedrock|openai|{_PLUGIN})$"


class StoreSettings(BaseSettings):
    """Settings of where memories, vectors and messages lie, and of which models are asked."""

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
    episodic_windows: Literal["off", "on"] = Field(
        "off",
        description="whether kept raw turns have vectors too, each with what was said before it, by which memories are "
        "found; they go with the turn. `afterturn reindex` makes those of before",
    )
    fact_vectors: Literal["off", "on"] = Field(
        "off",
        description="whether each fact of a memory has a vector of its own, by which the graph is entered; "
        "`afterturn reindex` makes those of before",
    )
    embedder: Annotated[str, Field(pattern=_EMBEDDER)] = Field(
        "minilm",
        description="what makes vectors of summaries: minilm (English), multilingual, onnx (a folder), bedrock, openai "
        "(any endpoint that speaks its protocol), or package.module:function of your own",
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
        "",
        description='what the model wants before each text, such as "clustering: " (with onnx, bedrock or openai)',
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
    llm_price_prompt: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0.0, description="what a million prompt tokens cost, in any currency; counted in afterturn_llm_cost_total"
    )
    llm_price_completion: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0.0, description="what a million completion tokens cost, in the same currency"
    )
    embedder_price: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        0.0, description="what a million tokens of an embedder that is not here cost, in the same currency"
    )
    document_max_bytes: Annotated[int, Field(ge=1_024, le=MAX_DOCUMENT_BYTES)] = Field(
        MAX_DOCUMENT_BYTES, description="bytes of text that a document may have"
    )
    textbooks: tuple[str, ...] = Field(
        (),
        description="subjects of every tenant that are textbook collections, as a JSON list: their public documents "
        "answer whoever asks, are cited, and never become memories",
    )
    examples: Identifier | None = Field(
        None,
        description="subject of every tenant that holds the examples of how requests are handled, which an "
        "orchestrator searches; unset: there are none",
    )
    aws_region: str | None = Field(
        None,
        description="AWS region of Bedrock and S3 Vectors; unset: as boto3 finds it, as the credentials always are",
    )

    @field_validator("broker_url")
    @classmethod
    def _is_redis(cls, url: str) -> str:
        if not url.startswith(("redis://", "rediss://")):
            raise ValueError("must start with redis:// or rediss://, such as redis://127.0.0.1:6390/0")
        return url

    @field_validator("llm_url", "embedder_url", "index_url", "index_grpc_url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        return None if url is None else http_url(url)
