"""Failures that whoever runs the command can mend, each as one line that says how."""

from __future__ import annotations

from kombu.exceptions import OperationalError as SendingFailed
from redis.exceptions import AuthenticationError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from sqlalchemy.exc import OperationalError

from interfaces.fleet_report import NoAnswer
from interfaces.local.broker import BrokerUnavailable
from interfaces.local.processes import ProcessKeepsDying
from memory.reindex import IndexUnbuilt
from memory.reviews import SubjectBusy
from producers import SpoolUnavailable
from schema.settings import SettingsError, load_settings
from stores.catalog import CatalogUnavailable, UnderLegalHold
from stores.embedding import EmbedderRefused, EmbedderUnavailable
from stores.index import IndexMismatch, IndexUnavailable
from stores.postgres import PostgresUnavailable

_SAY_IT_THEMSELVES = (
    SettingsError,
    SpoolUnavailable,
    CatalogUnavailable,
    IndexMismatch,
    IndexUnavailable,
    IndexUnbuilt,
    PostgresUnavailable,
    EmbedderUnavailable,
    EmbedderRefused,
    BrokerUnavailable,
    ProcessKeepsDying,
    NoAnswer,
    SubjectBusy,
    UnderLegalHold,
)


def how_to_mend(failure: Exception) -> str | None:
    """What failed and what to do next, in one line; None where nobody could mend it: a defect."""
    match failure:
        case OperationalError():
            return f"the catalog does not answer: {failure.orig}. Check AFTERTURN_CATALOG_URL, or try again"
        case AuthenticationError() | ResponseError():
            url = load_settings().broker_shown
            return f"the broker at {url} refuses: {failure}. Check AFTERTURN_BROKER_URL, its rights, memory and disk"
        case RedisConnectionError() | RedisTimeoutError() | SendingFailed():
            url = load_settings().broker_shown
            return f"no broker answers at {url}. Start one (`afterturn run` brings its own) or set AFTERTURN_BROKER_URL"
        case _ if isinstance(failure, _SAY_IT_THEMSELVES):
            return str(failure)
    return None
