"""Titan Text Embeddings V2 on Amazon Bedrock."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from schema import Thresholds
from schema.errors import EmbedderRefused, EmbedderUnavailable, SettingsError
from schema.settings import Settings, variable_of
from stores.aws import AWS_FAILURES, AwsFailure, code_of, is_passing, open_bedrock, retry_after
from stores.embedding.base import Vectors, embed_each, guessed_tokens, refuse_blank, unit

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime import BedrockRuntimeClient

TITAN = "amazon.titan-embed-text-v2:0"
DIMENSIONS = (256, 512, 1024)
"""Dimensions that Titan V2 makes (Bedrock's guide, "Amazon Titan Embeddings Text", request and response)."""
MAX_CHARS = 20_000
"""Characters that are read of a text. Titan takes 50,000 characters and 8,192 tokens, and a token has 4.7 of them on
average in English; what is too long all the same is halved until it is taken."""
_THREADS = 16
_LEAST_CHARS = 1_000


class TitanEmbedder:
    """One text a call, several calls side by side."""

    thresholds: Thresholds | None = Thresholds(
        semantic_auto_update=0.90,
        semantic_check_low=0.80,
        episodic_auto_update=0.92,
        episodic_check_low=0.85,
    )
    """Those of the "S3 Vectors Memory Implementation Plan (V1)", which was written for this model."""

    def __init__(self, client: BedrockRuntimeClient, model: str, dimensions: int, *, prefix: str = "") -> None:
        self.name = f"{model}-{dimensions}{f'-{prefix}' if prefix else ''}"
        self.dimensions = dimensions
        self._model = model
        self._client = client
        self._prefix = prefix
        self._calls = ThreadPoolExecutor(_THREADS, thread_name_prefix="titan")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of the texts. Only the first 20,000 characters of a text count.

        Raises:
            ValueError: a text is empty or blank, or is no Unicode text (a lone surrogate).
            EmbedderUnavailable, EmbedderRefused
        """
        vectors, _ = self.embed_billed(texts)
        return vectors

    def embed_billed(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """Return what `embed` does, and how many tokens Bedrock counted; about how many where it does not say."""
        refuse_blank(texts)
        return embed_each(self._calls, self._embed_text, texts, self.dimensions)

    def _embed_text(self, text: str) -> tuple[Vectors, int]:
        read = (self._prefix + text)[:MAX_CHARS]
        while True:
            try:
                vector, tokens = self._ask(read)
                return unit(vector, self.dimensions), tokens
            except AWS_FAILURES as error:
                if code_of(error) != "ValidationException" or len(read) <= _LEAST_CHARS:
                    raise _failure(error) from error
                read = read[: len(read) // 2]

    def _ask(self, text: str) -> tuple[list[float], int]:
        body = {"inputText": text, "dimensions": self.dimensions, "normalize": True}
        answer = self._client.invoke_model(
            modelId=self._model, body=json.dumps(body), contentType="application/json", accept="application/json"
        )
        try:
            made = json.loads(answer["body"].read())
            vector, tokens = made["embedding"], made.get("inputTextTokenCount")
        except (ValueError, KeyError, TypeError):
            raise EmbedderUnavailable("Bedrock's answer has no embedding") from None
        if not isinstance(vector, list):
            raise EmbedderUnavailable("Bedrock's answer has no embedding")
        return vector, tokens if isinstance(tokens, int) else guessed_tokens([text])


def open_titan(settings: Settings) -> TitanEmbedder:
    """Return the embedder that the settings name; Titan V2 at 1,024 numbers if they say no more.

    Raises:
        SettingsError: no region is known, or the model does not make that many numbers.
    """
    dimensions = settings.embedder_dimensions or DIMENSIONS[-1]
    if dimensions not in DIMENSIONS:
        raise SettingsError(f"{variable_of('embedder_dimensions')}: Titan makes 256, 512 or 1024, not {dimensions}")
    client = open_bedrock(settings, timeout=settings.embedder_timeout_seconds, connections=_THREADS)
    return TitanEmbedder(client, settings.embedder_model or TITAN, dimensions, prefix=settings.embedder_prefix)


def _failure(error: AwsFailure) -> EmbedderUnavailable | EmbedderRefused:
    code = code_of(error)
    if is_passing(error):
        return EmbedderUnavailable(f"Bedrock: {code}", retry_after=retry_after(error))
    return EmbedderRefused(
        f"Bedrock: {code}; are {variable_of('embedder_model')}, the AWS credentials, their rights and the region right?"
    )
