"""Every metric of the fleet, in one room, but those of one program alone (`producers.counting`, `worker.gauges`). What
each means: `docs/reference/metrics.md`.

No label ever names a tenant, a user, a turn or a memory: labels are sets that the code knows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.metadata import version
from typing import Literal, get_args

from prometheus_client import Counter, Gauge, Histogram

from memory.spending import Purpose, current_spending
from memory.tracing import span
from schema import Asker, DecisionAction, Verdict
from schema.errors import Denied, NotAMember
from stores.breaker import State
from stores.catalog import Changes, Outcome
from stores.llm import Call
from stores.mailbox import Batch

_LAGS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 43_200)
_STAGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

# -- turns and what became of them
TURNS = Counter("afterturn_turns", "Turns processed, by outcome.", ["outcome"])
COMMIT_LAG = Histogram(
    "afterturn_turn_commit_lag_seconds", "From a turn's arrival in its mailbox to its commit.", buckets=_LAGS
)
SEARCHABLE_LAG = Histogram(
    "afterturn_turn_searchable_lag_seconds",
    "From a turn's arrival in its mailbox to when a search finds what came of it.",
    buckets=_LAGS,
)
STAGE_SECONDS = Histogram(
    "afterturn_stage_duration_seconds", "Wall time of one stage for one batch of turns.", ["stage"], buckets=_STAGES
)
STAGE_CPU = Counter("afterturn_stage_cpu_seconds", "CPU time of the threads that ran a stage.", ["stage"])
DECISIONS = Counter("afterturn_decisions", "What dedup said of candidates.", ["action"])
SCREENINGS = Counter("afterturn_screenings", "What the screen said of candidates.", ["verdict"])

# -- quotas
QUOTAS = Counter("afterturn_quota_refusals", "What a quota kept out, by the quota and whose it is.", ["quota", "scope"])

# -- documents
DOCUMENTS = Counter("afterturn_documents", "Documents that a worker took up, by outcome.", ["outcome"])
DOCUMENT_LAG = Histogram(
    "afterturn_document_lag_seconds", "From when a document was put to when a search finds it.", buckets=_LAGS
)

# -- what went wrong
RETRIES = Counter("afterturn_retries", "Batches given back to be tried again.", ["reason", "error"])
DEAD_LETTERS = Counter("afterturn_dead_letters", "Turns that became dead letters.", ["reason"])
LEASE_TAKEOVERS = Counter("afterturn_lease_takeovers", "Mailboxes taken over from a worker not heard of again.")
LEASES_LOST = Counter("afterturn_leases_lost", "Batches dropped because another worker took the mailbox over.")
BREAKER_STATE = Gauge(
    "afterturn_breaker_state", "0 closed, 1 half open, 2 open; of this worker.", ["part"], multiprocess_mode="livemax"
)
SCRAPE_ERRORS = Counter("afterturn_scrape_errors", "Stores that a scrape could not read.", ["store"])

# -- the language model
LLM_CALLS = Counter("afterturn_llm_calls", "Calls of the language model, by how they ended.", ["outcome"])
LLM_SECONDS = Histogram("afterturn_llm_call_duration_seconds", "How long a call of the language model took.")
LLM_CHARACTERS = Counter("afterturn_llm_characters", "Characters sent to the language model, with the schema.")
LLM_TOKENS = Counter("afterturn_llm_tokens", "Tokens of the language model.", ["kind"])
LLM_COST = Counter("afterturn_llm_cost", "What the tokens cost, in the currency of the settings.")
LLM_DROPPED = Counter("afterturn_llm_dropped", "What of the model's answers was not taken, and why.", ["reason"])
LLM_CHECKS = Counter("afterturn_llm_checks", "Pairs that the model was asked about, by its verdict.", ["verdict"])
LLM_FALLBACKS = Counter("afterturn_llm_fallbacks", "Batches that went on without the language model's answer.")

# -- the nights
NIGHT_SUBJECTS = Counter("afterturn_night_subjects", "Subjects that a nightly job looked at.", ["job", "outcome"])
NIGHT_STEPS = Counter("afterturn_night_steps", "What nightly jobs did to memories.", ["job", "action"])
NIGHT_SECONDS = Histogram(
    "afterturn_night_subject_duration_seconds", "How long a nightly job took for one subject.", ["job"], buckets=_STAGES
)

# -- what agents are given before they answer
FEEDBACK = Counter("afterturn_feedback", "Answers with feedback, by whether any memory helped.", ["useful"])
RETRIEVER = Counter("afterturn_retriever", "Retrievals in rounds, by how they ended.", ["outcome"])
RETRIEVER_ROUNDS = Counter("afterturn_retriever_rounds", "Rounds of such retrievals: calls of their model.")
RETRIEVER_SECONDS = Histogram(
    "afterturn_retriever_duration_seconds", "How long a retrieval in rounds took.", buckets=_STAGES
)

NIGHT_FIT = Counter("afterturn_night_episodes_fit", "Episodes that a night looked at as fit to be joined.")

# -- what becomes of judgements
REVIEWS = Counter("afterturn_reviews_decided", "Candidates that a person decided on.", ["asker", "verdict"])
RESTORED = Counter("afterturn_memories_restored", "Archived memories that somebody brought back.")

# -- recall
SEARCH_SECONDS = Histogram(
    "afterturn_search_duration_seconds", "How long a search took, and its parts.", ["stage"], buckets=_STAGES
)
SEARCHES = Counter("afterturn_searches", "Searches, by whether they were given anything.", ["outcome"])
SEARCH_HITS = Counter("afterturn_search_hits", "Memories that searches were given.")
CONTEXT_SECONDS = Histogram(
    "afterturn_context_duration_seconds", "How long it took to make a context block.", buckets=_STAGES
)
CONTEXTS = Counter("afterturn_context_blocks", "Context blocks, by whether anything was in them.", ["outcome"])
EMBEDDING_CALLS = Counter(
    "afterturn_embedding_calls", "Calls of the embedder, by what they were for and how they ended.", ["kind", "outcome"]
)
EMBEDDING_TEXTS = Counter("afterturn_embedding_texts", "Texts of the calls that were answered.", ["kind"])
EMBEDDING_TOKENS = Counter(
    "afterturn_embedding_tokens", "Tokens of these texts, as the provider counted, or guessed.", ["kind"]
)
EMBEDDING_COST = Counter("afterturn_embedding_cost", "What these tokens cost, in the currency of the settings.")
EMBEDDING_SECONDS = Histogram(
    "afterturn_embedding_duration_seconds", "How long a call of the embedder took.", ["kind"], buckets=_STAGES
)
WINDOWS = Counter("afterturn_windows", "Windows of kept raw turns that were written.")
DENIED = Counter("afterturn_access_denied", "What a principal asked for and was not allowed.", ["reason"])

# -- the service
HTTP_SECONDS = Histogram(
    "afterturn_http_request_duration_seconds",
    "From a request to the end of its answer, or to its beginning where that is a stream of events.",
    ["method", "route", "status"],
    buckets=_STAGES,
)
SSE_LISTENERS = Gauge(
    "afterturn_sse_listeners", "Streams of events that this service has open.", multiprocess_mode="livesum"
)
HTTP_RATES = Counter(
    "afterturn_http_rate_limit", "Requests that count against a key's limit, by class and outcome.", ["kind", "outcome"]
)

# -- webhooks
WEBHOOK_ATTEMPTS = Counter("afterturn_webhook_attempts", "Tries to deliver a webhook, by how they ended.", ["outcome"])
WEBHOOK_LAG = Histogram(
    "afterturn_webhook_lag_seconds", "From an event to when a webhook's receiver took it.", buckets=_LAGS
)

# -- the hot path
HOT_PATH = Counter("afterturn_hot_path", "Turns on the hot path, by what became of them.", ["outcome"])
HOT_PATH_SECONDS = Histogram(
    "afterturn_hot_path_duration_seconds", "How long the hot path took for a turn.", ["part"], buckets=_STAGES
)

# -- this program
BUILD = Gauge("afterturn_build_info", "1, by the version that runs.", ["version"], multiprocess_mode="max")
BUILD.labels(version("afterturn")).set(1)

ReviewVerdict = Literal["approved", "rejected"]
_REVIEW_VERDICTS: tuple[ReviewVerdict, ...] = ("approved", "rejected")
DeadLetterReason = Literal["invalid", "conflict", "workers_died", "failures", "error"]
_DEAD_LETTER_REASONS: tuple[DeadLetterReason, ...] = ("invalid", "conflict", "workers_died", "failures", "error")
_PARTS = ("embedder", "index")
_NOT_TAKEN = (
    "no_evidence",
    "not_the_users",
    "no_subject",
    "pasted",
    "unknown_turn",
    "no_sentence",
    "said_twice",
    "too_many",
    "nothing_to_forget",
)

# A series that begins at its first count hides that count from rate(): what is known begins at 0.
for _outcome in Outcome:
    TURNS.labels(_outcome)
for _action in DecisionAction:
    DECISIONS.labels(_action)
for _verdict in Verdict:
    SCREENINGS.labels(_verdict)
for _job in ("consolidate", "promote", "forget"):
    for _became in ("changed", "unchanged", "busy", "failed"):
        NIGHT_SUBJECTS.labels(_job, _became)
for _done in ("indexed", "masked", "relabelled", "quarantined", "refused", "overtaken", "failed"):
    DOCUMENTS.labels(_done)
for _reason in _DEAD_LETTER_REASONS:
    DEAD_LETTERS.labels(_reason)
for _store in ("broker", "catalog"):
    SCRAPE_ERRORS.labels(_store)
for _why in _NOT_TAKEN:
    LLM_DROPPED.labels(_why)
for _answered in ("same", "changed", "different", "unanswered"):
    LLM_CHECKS.labels(_answered)
for _ended in ("delivered", "failed", "gone"):
    WEBHOOK_ATTEMPTS.labels(_ended)
for _noted in ("noted", "done", "nothing", "decided", "failed", "late"):
    HOT_PATH.labels(_noted)
for _part in _PARTS:
    BREAKER_STATE.labels(_part)
for _given in ("answered", "empty"):
    SEARCHES.labels(_given)
    CONTEXTS.labels(_given)
_EMBEDDED = {
    _kind: (
        {True: EMBEDDING_CALLS.labels(_kind, "answered"), False: EMBEDDING_CALLS.labels(_kind, "failed")},
        EMBEDDING_TEXTS.labels(_kind),
        EMBEDDING_TOKENS.labels(_kind),
        EMBEDDING_SECONDS.labels(_kind),
    )
    for _kind in get_args(Purpose)
}
for _denied in ("not_a_member", "not_allowed"):
    DENIED.labels(_denied)
for _asker in Asker:
    for _decided in _REVIEW_VERDICTS:
        REVIEWS.labels(_asker, _decided)


def count_committed(changes: Changes) -> None:
    """Count the turns of what was just committed, and how long each had waited for it."""
    now = time.time()
    WINDOWS.inc(len(changes.windows))
    for entry in changes.ledger:
        TURNS.labels(entry.outcome).inc()
        COMMIT_LAG.observe(_waited(now, entry.arrived_at.timestamp()))


def count_searchable(changes: Changes) -> None:
    """Count the turns whose changes the index was just told of."""
    effective = (Outcome.KEPT, Outcome.FORGOTTEN, Outcome.HIDDEN)
    observe_searchable([entry.arrived_at.timestamp() for entry in changes.ledger if entry.outcome in effective])


def observe_searchable(arrivals: Sequence[float]) -> None:
    """Observe turns that arrived at these Unix times and are searchable now."""
    now = time.time()
    for arrived in arrivals:
        SEARCHABLE_LAG.observe(_waited(now, arrived))


def observe_document(waited: float) -> None:
    """Observe a document that waited so many seconds to be searchable."""
    DOCUMENT_LAG.observe(max(0.0, waited))


def count_takeover(batch: Batch | None) -> None:
    """Count a mailbox that was just acquired, if a worker had it before and was not heard of again."""
    if batch and any(parked.deliveries > 1 for parked in batch.turns):
        LEASE_TAKEOVERS.inc()


def count_retry(error: BaseException, *, outage: bool) -> None:
    """Count a batch that was given back."""
    RETRIES.labels("outage" if outage else "failure", type(error).__name__).inc()


def count_dead_letter(reason: DeadLetterReason) -> None:
    """Count a turn that became a dead letter."""
    DEAD_LETTERS.labels(reason).inc()


def count_llm_call(call: Call, prices: tuple[float, float] = (0.0, 0.0)) -> None:
    """Count one call of the language model; `prices` are of a million prompt and completion tokens."""
    LLM_CALLS.labels(call.outcome).inc()
    LLM_SECONDS.observe(call.seconds)
    LLM_CHARACTERS.inc(call.characters)
    LLM_TOKENS.labels("prompt").inc(call.prompt_tokens)
    LLM_TOKENS.labels("completion").inc(call.completion_tokens)
    LLM_COST.inc((call.prompt_tokens * prices[0] + call.completion_tokens * prices[1]) / 1e6)
    spent = current_spending()
    spent.llm_calls += 1
    spent.prompt_tokens += call.prompt_tokens
    spent.completion_tokens += call.completion_tokens


def count_llm_dropped(why: str) -> None:
    """Count a part of an answer that was not taken."""
    LLM_DROPPED.labels(why).inc()


def count_webhook(outcome: Literal["delivered", "failed", "gone"], lag: float | None = None) -> None:
    """Count a try to deliver a webhook; `lag` is the age of the event in seconds when it was taken."""
    WEBHOOK_ATTEMPTS.labels(outcome).inc()
    if lag is not None:
        WEBHOOK_LAG.observe(lag)


def count_embedding(texts: int, seconds: float, tokens: int | None, price: float = 0.0) -> None:
    """Count a call of the embedder for so many texts, that took so long; `tokens` are what its provider counted, None
    where it failed, `price` is of a million of them."""
    spent = current_spending()
    calls, answered_texts, answered_tokens, duration = _EMBEDDED[spent.purpose]
    calls[tokens is not None].inc()
    duration.observe(seconds)
    if tokens is not None:
        answered_texts.inc(texts)
        answered_tokens.inc(tokens)
        EMBEDDING_COST.inc(tokens * price / 1e6)
        spent.embedding_calls += 1
        spent.embedding_texts += texts
        spent.embedding_tokens += tokens


def count_search(seconds: float, hits: int) -> None:
    """Count a search that took so long, and how many memories it was given."""
    SEARCH_SECONDS.labels("whole").observe(seconds)
    SEARCHES.labels("answered" if hits else "empty").inc()
    SEARCH_HITS.inc(hits)


def count_context(seconds: float, *, empty: bool) -> None:
    """Count a context block that took so long to make."""
    CONTEXT_SECONDS.observe(seconds)
    CONTEXTS.labels("empty" if empty else "answered").inc()


def count_denied(error: Denied) -> None:
    """Count what a principal asked for and was not allowed: once, however many rooms the error goes through."""
    if error.is_counted:
        return
    error.is_counted = True
    reason = "not_a_member" if isinstance(error, NotAMember) else "not_allowed"
    DENIED.labels(reason).inc()
    # It lasts no time, and stands in the trace where somebody was refused.
    with span("denied", {"afterturn.reason": reason}):
        pass


def count_review(asker: Asker, verdict: ReviewVerdict) -> None:
    """Count what a person decided on a candidate."""
    REVIEWS.labels(asker, verdict).inc()


def show_breaker(part: str, state: State) -> None:
    """Show the state of a part's circuit breaker."""
    BREAKER_STATE.labels(part).set(state)


def breaker_states() -> dict[str, State]:
    """Return the states of this worker's circuit breakers, by part."""
    return {
        sample.labels["part"]: State(int(sample.value))
        for metric in BREAKER_STATE.collect()
        for sample in metric.samples
    }


def _waited(now: float, arrived: float) -> float:
    # Arrivals are on Redis' clock and `now` on ours, which may be behind it.
    return max(0.0, now - arrived)
