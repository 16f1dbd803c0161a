"""The command's entry: puts the subcommands together and turns known failures into one clear line."""

from __future__ import annotations

import sys

import typer
from kombu.exceptions import OperationalError as SendingFailed
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from rich.text import Text
from sqlalchemy.exc import OperationalError

from interfaces.cli import (
    configuration,
    dead_letters,
    doctor,
    erasing,
    fleet,
    graph,
    holds,
    knowledge,
    moving,
    nights,
    reviews,
    status,
    subject,
    topics,
    turns,
)
from interfaces.cli.output import errors
from interfaces.fleet_report import NoAnswer
from interfaces.local.broker import BrokerUnavailable
from interfaces.local.processes import ProcessKeepsDying
from memory.catalog import CatalogUnavailable, UnderLegalHold
from memory.embedding import EmbedderRefused, EmbedderUnavailable
from memory.index import IndexMismatch, IndexUnavailable
from memory.postgres import PostgresUnavailable
from memory.reindexing import IndexUnbuilt
from memory.settings import SettingsError, load_settings
from producers import SpoolUnavailable
from worker.reviews import SubjectBusy

_MENDABLE = (
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

app = typer.Typer(
    name="afterturn",
    help=(
        "The cold path of an assistant's long-term memory.\n\n"
        "A chat backend enqueues turns; the fleet (`afterturn worker`, `afterturn beat`) remembers what is worth it. "
        "`afterturn run` starts everything on one machine. Settings are environment variables: `afterturn settings`."
    ),
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_show_locals=False,
)
turns.add_to(app)
knowledge.add_to(app)
topics.add_to(app)
graph.add_to(app)
moving.add_to(app)
fleet.add_to(app)
nights.add_to(app)
erasing.add_to(app)
status.add_to(app)
doctor.add_to(app)
configuration.add_to(app)
app.add_typer(dead_letters.app)
app.add_typer(reviews.app)
app.add_typer(holds.app)
app.add_typer(subject.app)


def main() -> None:
    """Run the command; exit 2 with one line on standard error for a failure that the user can mend."""
    try:
        app()
    except _MENDABLE as error:
        _stop(str(error))
    except (RedisConnectionError, RedisTimeoutError, SendingFailed):
        url = load_settings().broker_shown
        _stop(f"no broker answers at {url}. Start one (`afterturn run` brings its own) or set AFTERTURN_BROKER_URL")
    except OperationalError as error:
        _stop(f"the catalog does not answer: {error.orig}. Check AFTERTURN_CATALOG_URL, or try again")


def _stop(message: str) -> None:
    errors.print(Text(f"afterturn: {message}", style="red"), soft_wrap=True)
    sys.exit(2)
