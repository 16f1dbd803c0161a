"""Stores, broker and models that deciding, publishing and erasing need, opened once a process."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING

from celery import Celery
from redis import Redis

from memory.embedding import counted
from memory.metrics import count_llm_call, show_breaker
from memory.same_fact import Judge
from schema.settings import Settings
from stores.embedding import open_cross_encoder, open_forget_reader, open_pair_reader, open_utterance_reader
from stores.llm import LLM, open_llm
from stores.mailbox import Mailbox
from stores.open import Stores, open_stores
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis

if TYPE_CHECKING:
    from stores.embedding.cross_encoder import CrossEncoder
    from stores.embedding.pair_reader import PairReader
    from stores.embedding.utterance_reader import UtteranceReader


@dataclass(frozen=True)
class MemoryContext(Stores):
    """The stores, with the broker, the language model and whoever is asked what rules cannot tell."""

    celery: Celery
    redis: Redis
    mailbox: Mailbox
    llm: LLM | None
    judge: Judge | None
    """Asked in dedup's check range; nobody without a language model."""
    cross_encoder: CrossEncoder | None
    """Reads what may be a change beside what it may end, in English; none with an embedder that is not built in."""
    pair_reader: PairReader | None
    """The same in other languages; none but with the multilingual embedder."""
    utterance_reader: UtteranceReader | None
    """Reads an utterance by itself, in English: what it is worth, what it orders. None where there is no
    cross-encoder."""
    forget_reader: CrossEncoder | None
    """Reads what a message asks to have forgotten, in English; none where there is no cross-encoder."""

    def close(self) -> None:
        super().close()
        self.redis.close()


def open_memory(
    settings: Settings, celery: Celery | None = None, *, redis: Redis | None = None, makes_catalog: bool = True
) -> MemoryContext:
    """Open all that changing memories needs; `celery` sends to the queues and `redis` is the broker's, each one of its
    own unless given. An embedded catalog that is not there is made, if `makes_catalog`.

    Raises:
        SettingsError: a policy constant cannot work, or a model never will; the message says which setting.
        CatalogUnavailable, IndexMismatch: a store cannot be used as it is; the message says what to do.
    """
    return memory_on(open_stores(settings, counted, makes_catalog=makes_catalog), celery, redis=redis)


def memory_on(stores: Stores, celery: Celery | None = None, *, redis: Redis | None = None) -> MemoryContext:
    """Return what changing memories needs, on stores that are open: it closes them.

    Raises:
        SettingsError: a model never will work; the message says which setting.
    """
    settings = stores.settings
    redis = redis or open_redis(settings)
    sender = celery or create_celery(settings)
    prices = settings.llm_price_prompt, settings.llm_price_completion
    llm = open_llm(settings, redis, on_call=partial(count_llm_call, prices=prices), on_breaker=show_breaker)
    return MemoryContext(
        **{field.name: getattr(stores, field.name) for field in fields(Stores)},
        celery=sender,
        redis=redis,
        mailbox=open_mailbox(settings, redis, sender),
        llm=llm,
        judge=Judge(llm, waits=settings.llm_fallback == "retry") if llm else None,
        cross_encoder=open_cross_encoder(settings),
        utterance_reader=open_utterance_reader(settings),
        forget_reader=open_forget_reader(settings),
        pair_reader=open_pair_reader(settings, stores.embedder),
    )
