"""Embedders."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from schema.errors import EmbedderRefused, SettingsError
from schema.settings import Settings, variable_of
from stores.embedding.base import Embedder, Vectors
from stores.plugin import load_plugin, needs_extra

if TYPE_CHECKING:
    from stores.embedding.cross_encoder import CrossEncoder
    from stores.embedding.pair_reader import PairReader
    from stores.embedding.utterance_reader import UtteranceReader

__all__ = [
    "Embedder",
    "Vectors",
    "open_cross_encoder",
    "open_embedder",
    "open_forget_reader",
    "open_pair_reader",
    "open_utterance_reader",
    "try_out",
]

_WITH_MINILM = ("minilm", "multilingual")
"""Embedders beside which MiniLM is installed."""


def open_embedder(settings: Settings) -> Embedder:
    """Return the embedder that the settings name; a folder's own model is loaded at once, which takes about half a
    second.

    Raises:
        SettingsError: its model or its client is not installed or is damaged, or it needs another setting; the message
            says what to do.
    """
    variable = variable_of("embedder")
    match settings.embedder:
        case "minilm":
            return _minilm(os.getpid())
        case "multilingual":
            with needs_extra("multilingual", variable):
                return _multilingual(os.getpid())
        case "onnx":
            from stores.embedding.onnx import open_onnx

            return open_onnx(settings)
        case "bedrock":
            with needs_extra("bedrock", variable):
                from stores.embedding.bedrock import open_titan
            return open_titan(settings)
        case "openai":
            with needs_extra("openai", variable):
                from stores.embedding.openai import open_openai_embedder
            return open_openai_embedder(settings)
        case own:
            embedder: Embedder = load_plugin(own, variable)(settings)
            return embedder


@cache
def _minilm(process: int) -> Embedder:  # noqa: ARG001
    """Return the one MiniLM of a process: it holds 120 MB, and a child that was forked can use none of its parent's."""
    from stores.embedding.minilm import MiniLM

    return MiniLM()


@cache
def _multilingual(process: int) -> Embedder:  # noqa: ARG001
    """Return the one of a process: the threads on which it embeds are not there in a child that was forked."""
    from stores.embedding.multilingual import MultilingualE5

    return MultilingualE5()


def open_cross_encoder(settings: Settings) -> CrossEncoder | None:
    """Return the model that reads whether one English statement ends what another tells; None beside an embedder that
    is not built in, where MiniLM, whose weights it adapts, need not be installed."""
    return _endings(os.getpid()) if settings.embedder in _WITH_MINILM else None


def open_forget_reader(settings: Settings) -> CrossEncoder | None:
    """Return the model that reads whether a message in English asks for what a memory tells to be forgotten; None where
    there is no `open_cross_encoder` either."""
    return _forgetting(os.getpid()) if settings.embedder in _WITH_MINILM else None


def open_utterance_reader(settings: Settings) -> UtteranceReader | None:
    """Return the model that reads what of an English utterance words leave open; None where there is no
    `open_cross_encoder` either."""
    return _utterances(os.getpid()) if settings.embedder in _WITH_MINILM else None


def open_pair_reader(settings: Settings, embedder: Embedder) -> PairReader | None:
    """Return what reads two statements of other languages beside each other by their vectors; None where those are not
    of the embedder whose vectors it learned from."""
    if settings.embedder != "multilingual":
        return None
    from stores.embedding.pair_reader import PairReader

    return PairReader(embedder)


@cache
def _endings(process: int) -> CrossEncoder:  # noqa: ARG001
    """Return the one of a process: a child that was forked can use none of its parent's."""
    from stores.embedding.cross_encoder import ENDINGS, CrossEncoder

    return CrossEncoder(ENDINGS)


@cache
def _forgetting(process: int) -> CrossEncoder:  # noqa: ARG001
    from stores.embedding.cross_encoder import FORGETTING, CrossEncoder

    return CrossEncoder(FORGETTING)


@cache
def _utterances(process: int) -> UtteranceReader:  # noqa: ARG001
    from stores.embedding.utterance_reader import UtteranceReader

    return UtteranceReader()


def try_out(embedder: Embedder) -> None:
    """Embed a word, so that an embedder that can never work is known at the start and not at the first turn.

    Raises:
        SettingsError: it refuses; the message says what to look at.
        EmbedderUnavailable: it may work later.
    """
    try:
        embedder.embed(["hello"])
    except EmbedderRefused as error:
        raise SettingsError(f"{variable_of('embedder')}: {error}") from error
