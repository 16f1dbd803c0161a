"""A client of the Model Context Protocol on this machine: `mcp`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from interfaces.cli.arguments import account, identifier
from memory.context import open_memory
from memory.keys import principal_of
from policies.access import acting
from schema import Capability, Principal, Subject
from schema.errors import SettingsError
from schema.settings import Settings, load_settings
from stores.catalog import Catalog
from worker.logs import configure_logging

_READS: Final = frozenset({Capability.READ})
_WRITES: Final = _READS | {Capability.WRITE, Capability.DELETE}


def mcp(
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Whose memory it is; unset: the key's user.", callback=identifier)
    ] = None,
    tenant: Annotated[
        str,
        typer.Option(
            "--tenant", "-t", help="The tenant that the user belongs to; a key names its own.", callback=identifier
        ),
    ] = "default",
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", help="Which agent the client is.", callback=identifier)
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer nothing that changes a memory.")] = False,
) -> None:
    """Serve a user's memory to a client of the Model Context Protocol that starts this command.

    It speaks over standard input and output, and logs to standard error. With AFTERTURN_MCP_KEY the key says what the
    client may; without, it may read, write and erase what is the user's. Over HTTP `afterturn serve` offers the same
    at `/mcp`.
    """
    settings = load_settings()
    # Standard output is the client's.
    configure_logging(settings.log_level)
    try:
        from anyio import run

        from interfaces.mcp.over_stdio import serve_stdio
    except ImportError as error:
        raise SettingsError(f"the protocol needs more ({error.name}): pip install 'afterturn[service]'") from error
    with closing(open_memory(settings, makes_catalog=False)) as context:
        asker = _asker(settings, context.catalog, tenant, user, agent, read_only=read_only)
        first = asker()
        subject_id = user or first.user_id
        if subject_id is None:
            raise typer.BadParameter("say whose memory it is: --user")
        run(serve_stdio, asker, Subject(tenant_id=first.tenant_id, subject_id=subject_id), context)


def _asker(
    settings: Settings, catalog: Catalog, tenant: str, user: str | None, agent: str | None, *, read_only: bool
) -> Callable[[], Principal]:
    """Return what says, each time anew, who asks: whom the key stands for, or who started the command."""
    allowed = _READS if read_only else frozenset(Capability)
    if settings.mcp_key is None:
        started_by = Principal(
            tenant_id=tenant,
            user_id=user,
            agent_id=agent,
            capabilities=_WRITES & allowed,
            key_id=f"mcp:{account()}"[:200],
        )
        return lambda: started_by
    secret = settings.mcp_key.get_secret_value()

    def by_key() -> Principal:
        principal = principal_of(secret, catalog, now=datetime.now(UTC))
        if principal is None:
            raise SettingsError("AFTERTURN_MCP_KEY: this key is not in force; make one with `afterturn keys create`")
        named = acting(principal, user, agent)
        return named.model_copy(update={"capabilities": named.capabilities & allowed})

    return by_key
