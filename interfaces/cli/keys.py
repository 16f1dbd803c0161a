"""Keys of the service: `keys create`, `list`, `rotate`, `revoke`."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer
from pydantic import TypeAdapter, ValidationError
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import MOST_DAYS, ByOption, JsonOption, TenantOption, identifier
from interfaces.cli.output import console, print_json, print_result
from memory.keys import Issued, issue, revoke, rotate
from policies.access import in_force
from schema import ApiKey, Capability
from schema.access import KeyName
from schema.settings import load_settings
from stores.catalog import open_catalog

IdArgument = Annotated[str, typer.Argument(help="The key's id, from `afterturn keys list`.")]

app = typer.Typer(
    name="keys",
    help="""Keys of the service: each names its tenant, may name a user and an agent, and has capabilities.

    \b
    read       search, list, get, context         write      write memories of all
    write_own  an agent writes its own            delete     erase memories
    turns      enqueue turns                      documents  put and delete documents
    act_as     name the user or agent asked for   admin      keys, members, holds, reviews, erasures
    """,
    no_args_is_help=True,
)

_OF_A_BACKEND: Final = (Capability.READ, Capability.TURNS)
_OF_AN_AGENT: Final = (Capability.READ, Capability.WRITE_OWN)
"""Capabilities of a key of which nobody says what it may."""


def _key_name(given: str) -> str:
    try:
        return TypeAdapter(KeyName).validate_python(given)
    except ValidationError as error:
        raise typer.BadParameter(error.errors()[0]["msg"]) from error


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What it is for, such as `chat backend`.", callback=_key_name)],
    by: ByOption,
    can: Annotated[
        list[Capability] | None,
        typer.Option(
            "--can",
            "-c",
            help="A capability; give it once for each. If left out: read and turns; of an agent read and write_own.",
        ),
    ] = None,
    tenant: TenantOption = "default",
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Stands for this user alone.", callback=identifier)
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", help="Stands for this agent alone.", callback=identifier)
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=MOST_DAYS, help="Days until it expires; never if left out.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key and show it, this once.

    \b
    A chat backend that asks for its users:  afterturn keys create backend -c read -c turns -c act_as
    An agent that keeps notes of its own:    afterturn keys create coach --agent coach
    """
    now = datetime.now(UTC)
    with closing(open_catalog(load_settings())) as catalog:
        issued = issue(
            name,
            tenant,
            can or (_OF_AN_AGENT if agent else _OF_A_BACKEND),
            catalog,
            by=by,
            now=now,
            user_id=user,
            agent_id=agent,
            expires_at=now + timedelta(days=days) if days else None,
        )
    _show(issued, as_json=as_json)


@app.command("list")
def list_keys(
    tenant: Annotated[
        str | None, typer.Option("--tenant", "-t", help="Only of this tenant.", callback=identifier)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Those too that are not in force any more.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List keys with what they may do and when they were used last."""
    now = datetime.now(UTC)
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        keys = [key for key in catalog.keys.all(tenant) if every or in_force(key, now)]
    print_result(
        [key.model_dump(mode="json") for key in keys],
        _table(keys, now) if keys else "no keys: make one with `afterturn keys create NAME`",
        as_json=as_json,
    )


@app.command("rotate")
def rotate_key(
    key: IdArgument,
    by: ByOption,
    overlap: Annotated[
        float, typer.Option(min=0, max=8_760, help="Hours for which the old one stays in force.")
    ] = 24.0,
    as_json: JsonOption = False,
) -> None:
    """Make a new key in the place of another, which stays in force for a while so that nobody is locked out."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        issued = rotate(key, timedelta(hours=overlap), catalog, by=by, now=datetime.now(UTC))
    _show(issued, as_json=as_json)


@app.command("revoke")
def revoke_key(key: IdArgument, as_json: JsonOption = False) -> None:
    """End a key at once, for good."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        ended = revoke(key, catalog, now=datetime.now(UTC))
    print_result(
        ended.model_dump(mode="json"), Text(f"{ended.id} ({ended.name}) opens nothing any more"), as_json=as_json
    )


def _show(issued: Issued, *, as_json: bool) -> None:
    if as_json:
        print_json({**issued.key.model_dump(mode="json"), "key": issued.secret})
        return
    console.print(Text(issued.secret, style="bold"), soft_wrap=True)
    console.print(
        Text(f"{issued.key.id} of tenant {issued.key.tenant_id}; keep it now, it is not shown again. Send it as ")
        + Text("X-API-Key", style="cyan")
    )


def _table(keys: list[ApiKey], now: datetime) -> Table:
    table = Table(title="Keys", title_justify="left")
    for column in ("id", "name", "tenant", "stands for", "may", "last used", "ends"):
        table.add_column(column, no_wrap=column == "id", overflow="fold")
    for key in keys:
        bound = ", ".join(
            filter(None, (key.user_id and f"user {key.user_id}", key.agent_id and f"agent {key.agent_id}"))
        )
        end = min(filter(None, (key.expires_at, key.revoked_at)), default=None)
        table.add_row(
            key.id,
            Text(key.name),
            Text(key.tenant_id),
            Text(bound or "the tenant"),
            ", ".join(sorted(key.capabilities)),
            f"{key.last_used_at:%Y-%m-%d}" if key.last_used_at else "never",
            f"{end:%Y-%m-%d %H:%M}" if end else "",
            style="" if in_force(key, now) else "dim",
        )
    return table
