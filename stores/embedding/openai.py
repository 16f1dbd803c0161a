"""Embeddings of any endpoint that speaks OpenAI's protocol."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ValidationError

from schema import Thresholds
from schema.errors import EmbedderRefused, EmbedderUnavailable, SettingsError
from schema.settings import Settings, variable_of
from stores.embedding.base import Vectors, guessed_tokens, refuse_blank, unit
from stores.openai_endpoint import Endpoint, EndpointRefused, EndpointUnavailable

MAX_CHARS = 20_000
"""Characters that are read of a text: OpenAI's models take 8,192 tokens."""
_TEXTS_A_REQUEST = 64
"""Gemini's endpoint takes 100 at most, OpenAI's 2,048."""


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Usage(BaseModel):
    total_tokens: Annotated[int, BeforeValidator(lambda value: value if isinstance(value, int) else 0)] = 0


class _Embeddings(BaseModel):
    data: list[_Embedding]
    # What tells no number of tokens costs the count, not the vectors.
    usage: Annotated[_Usage, BeforeValidator(lambda value: value if isinstance(value, dict) else {})] = _Usage()


class OpenAIEmbedder:
    """One model of one endpoint.

    A model whose own vectors have other dimensions than are wanted is asked for those by `dimensions`, which not every
    model takes. Vectors are made unit length here: shortened ones of some models are not.
    """

    thresholds: Thresholds | None = None

    def __init__(self, endpoint: Endpoint, model: str, dimensions: int, *, timeout: float, prefix: str = "") -> None:
        self.name = f"{model}-{dimensions}{f'-{prefix}' if prefix else ''}"
        self.dimensions = dimensions
        self._endpoint = endpoint
        self._model = model
        self._timeout = timeout
        self._prefix = prefix
        self._says_dimensions = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of the texts. Only the first 20,000 characters of a text count.

        Raises:
            ValueError: a text is empty or blank, or is no Unicode text (a lone surrogate).
            EmbedderUnavailable, EmbedderRefused
        """
        vectors, _ = self.embed_billed(texts)
        return vectors

    def embed_billed(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """Return what `embed` does, and how many tokens the endpoint counted; about how many where it does not say."""
        refuse_blank(texts)
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        tokens = 0
        for start in range(0, len(texts), _TEXTS_A_REQUEST):
            part = [(self._prefix + text)[:MAX_CHARS] for text in texts[start : start + _TEXTS_A_REQUEST]]
            made, counted = self._ask(part)
            tokens += counted
            for position, vector in enumerate(made):
                vectors[start + position] = unit(vector, self.dimensions)
        return vectors, tokens

    def _ask(self, texts: list[str]) -> tuple[list[list[float]], int]:
        deadline = time.monotonic() + self._timeout
        says = self._says_dimensions
        vectors, tokens = self._post(texts, deadline, says_dimensions=says)
        if not says and len(vectors[0]) != self.dimensions:
            vectors, again = self._post(texts, deadline, says_dimensions=True)
            tokens += again
            self._says_dimensions = len(vectors[0]) == self.dimensions
        return vectors, tokens

    def _post(self, texts: list[str], deadline: float, *, says_dimensions: bool) -> tuple[list[list[float]], int]:
        request: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if says_dimensions:
            request["dimensions"] = self.dimensions
        try:
            answer = self._endpoint.post("embeddings", request, deadline)
        except EndpointUnavailable as error:
            raise EmbedderUnavailable(str(error), retry_after=error.retry_after) from error
        except EndpointRefused as error:
            names = [variable_of(f"embedder_{part}") for part in ("url", "model", "api_key", "dimensions")]
            raise EmbedderRefused(f"{error}; are {', '.join(names[:-1])} and {names[-1]} right?") from error
        try:
            made = _Embeddings.model_validate(answer)
            by_position = {item.index: item.embedding for item in made.data}
            tokens = made.usage.total_tokens or guessed_tokens(texts)
            return [by_position[position] for position in range(len(texts))], tokens
        except (ValidationError, KeyError):
            raise EmbedderUnavailable("the endpoint's answer is no list of embeddings for these texts") from None


def open_openai_embedder(settings: Settings) -> OpenAIEmbedder:
    """Return the embedder that the settings name.

    Raises:
        SettingsError: they name no model or no dimensions.
    """
    if not settings.embedder_model or not settings.embedder_dimensions:
        missing = variable_of("embedder_dimensions" if settings.embedder_model else "embedder_model")
        raise SettingsError(f"{missing}: {variable_of('embedder')}=openai needs a model and how many numbers it makes")
    timeout = settings.embedder_timeout_seconds
    endpoint = Endpoint(
        settings.embedder_url, settings.embedder_api_key, timeout=timeout, connections=settings.worker_slots
    )
    return OpenAIEmbedder(
        endpoint,
        settings.embedder_model,
        settings.embedder_dimensions,
        timeout=timeout,
        prefix=settings.embedder_prefix,
    )
