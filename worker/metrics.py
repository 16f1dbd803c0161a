"""What the fleet counts. No label ever names a user, a turn or a memory."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

from memory.breaker import State
from memory.llm import Call

LLM_CALLS = Counter("afterturn_llm_calls", "Calls of the language model, by how they ended.", ["outcome"])
LLM_SECONDS = Histogram("afterturn_llm_call_duration_seconds", "How long a call of the language model took.")
LLM_TOKENS = Counter("afterturn_llm_tokens", "Tokens of the language model.", ["kind"])
BREAKER_STATE = Gauge("afterturn_breaker_state", "0 closed, 1 half open, 2 open; of this worker.", ["part"])


def count_llm_call(call: Call) -> None:
    """Count one call of the language model."""
    LLM_CALLS.labels(call.outcome).inc()
    LLM_SECONDS.observe(call.seconds)
    LLM_TOKENS.labels("prompt").inc(call.prompt_tokens)
    LLM_TOKENS.labels("completion").inc(call.completion_tokens)


def show_breaker(part: str, state: State) -> None:
    """Show the state of a part's circuit breaker."""
    BREAKER_STATE.labels(part).set(state)
