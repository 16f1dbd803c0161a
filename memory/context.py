"""What deciding, publishing and erasing need beside the stores."""

from __future__ import annotations

from dataclasses import dataclass

from celery import Celery
from redis import Redis

from memory.same_fact import Judge
from stores.mailbox import Mailbox
from stores.open import Stores


@dataclass(frozen=True)
class MemoryContext(Stores):
    """The stores, with the broker and whoever is asked what rules cannot tell."""

    celery: Celery
    redis: Redis
    mailbox: Mailbox
    judge: Judge | None
    """Asked in dedup's check range; nobody without a language model."""

    def close(self) -> None:
        super().close()
        self.redis.close()
