"""Preferences of a user: `subject show`, `block`, `unblock`, `consent`, `timezone`."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer
from pydantic import ValidationError

from interfaces.cli.arguments import JsonOption, TenantOption, UserArgument, account
from interfaces.cli.output import grid, print_result
from memory.context import open_memory
from memory.preferences import TooManyTopics, set_preference
from schema import Preference, PreferenceName, Preferences, Subject
from schema.settings import load_settings
from stores.catalog import open_catalog

TopicArgument = Annotated[str, typer.Argument(help="The topic in a few words, such as health or 'my divorce'.")]


class Consent(StrEnum):
    GIVE = "give"
    WITHDRAW = "withdraw"


app = typer.Typer(
    name="subject",
    help="What a user wants of their memory: topics on which nothing is kept, consent, a time zone.",
    no_args_is_help=True,
)


@app.command()
def show(user: UserArgument, tenant: TenantOption = "default", as_json: JsonOption = False) -> None:
    """Show what a user wants of their memory."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        preferences = catalog.preferences.of(Subject(tenant_id=tenant, subject_id=user))
    _print(user, preferences, as_json=as_json)


@app.command()
def block(
    user: UserArgument, topic: TopicArgument, tenant: TenantOption = "default", as_json: JsonOption = False
) -> None:
    """Keep nothing on a topic from now on. What is known already stays; `afterturn forget` erases it."""
    _change(user, tenant, PreferenceName.BLOCKED_TOPIC, topic, as_json=as_json)


@app.command()
def unblock(
    user: UserArgument, topic: TopicArgument, tenant: TenantOption = "default", as_json: JsonOption = False
) -> None:
    """Let what is said on a topic be kept and told again."""
    _change(user, tenant, PreferenceName.BLOCKED_TOPIC, topic, as_json=as_json, holds=False)


@app.command()
def consent(
    user: UserArgument,
    decision: Annotated[Consent, typer.Argument(help="Whether turns of the user may be remembered from now on.")],
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Give or withdraw a user's consent. While it is withdrawn, all that is done is to forget on request."""
    value = "granted" if decision is Consent.GIVE else "withdrawn"
    _change(user, tenant, PreferenceName.CONSENT, value, as_json=as_json)


@app.command()
def timezone(
    user: UserArgument,
    zone: Annotated[str, typer.Argument(help="The zone's IANA name, such as Europe/Berlin.")],
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Say in which time zone a user lives: their nights are when the nightly jobs look after their memory."""
    _change(user, tenant, PreferenceName.TIME_ZONE, zone, as_json=as_json)


def _change(user: str, tenant: str, name: PreferenceName, value: str, *, as_json: bool, holds: bool = True) -> None:
    try:
        with closing(open_memory(load_settings())) as context:
            preferences = set_preference(
                Subject(tenant_id=tenant, subject_id=user),
                Preference(name=name, value=value),
                context,
                by=account(),
                now=datetime.now(UTC),
                holds=holds,
            )
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise typer.BadParameter(f"{value!r}: {reason}") from error
    except TooManyTopics as error:
        raise typer.BadParameter(str(error)) from error
    _print(user, preferences, as_json=as_json)


def _print(user: str, preferences: Preferences, *, as_json: bool) -> None:
    rows = {
        "user": user,
        "consent": preferences.consent or "not asked: what is said is kept",
        "blocked topics": ", ".join(preferences.blocked_topics) or "none",
        "never mentioned": ", ".join(preferences.unmentioned_topics) or "nothing",
        "time zone": preferences.time_zone or "unknown",
    }
    print_result(preferences.model_dump(mode="json"), grid(rows), as_json=as_json)
