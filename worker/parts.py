"""The parts that a turn passes through, opened once a process."""

from __future__ import annotations

from dataclasses import dataclass

from celery import Celery
from redis import Redis

from memory.catalog import Catalog, open_catalog
from memory.embedding import open_embedder
from memory.embedding.base import Embedder
from memory.index import open_index
from memory.index.base import Index
from memory.mailbox import Mailbox
from memory.redis import open_redis
from memory.schema import Policy
from memory.settings import Settings, load_policy
from worker.extract import open_extractor
from worker.extract.base import Extractor


@dataclass(frozen=True)
class Parts:
    """What the pipeline works with. Every part may be used from many threads."""

    settings: Settings
    policy: Policy
    """On the embedder's scale."""
    celery: Celery
    redis: Redis
    mailbox: Mailbox
    catalog: Catalog
    index: Index
    embedder: Embedder
    extractor: Extractor

    def close(self) -> None:
        self.index.close()
        self.catalog.close()
        self.redis.close()


def open_parts(settings: Settings, celery: Celery) -> Parts:
    """Open all that the settings name.

    Raises:
        SettingsError: a policy constant cannot work.
        CatalogUnavailable, IndexMismatch: a store cannot be used as it is; the message says what to do.
    """
    embedder = open_embedder(settings)
    redis = open_redis(settings)
    return Parts(
        settings=settings,
        policy=load_policy().on_scale_of(embedder.thresholds),
        celery=celery,
        redis=redis,
        mailbox=Mailbox(redis),
        catalog=open_catalog(settings),
        index=open_index(settings, embedder),
        embedder=embedder,
        extractor=open_extractor(settings),
    )
