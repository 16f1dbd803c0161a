"""Arguments and options that several commands share: user, tenant, who decides, JSON output."""

from __future__ import annotations

import getpass
import os
from typing import Annotated, Final

import typer
from pydantic import TypeAdapter, ValidationError

from schema.turn import Identifier

MOST_ROWS: Final = 1_000_000
"""A list shows no more of what there is, whatever is asked for."""
MOST_DAYS: Final = 36_500
"""So many days are reckoned back or ahead at most: the calendar has a first year and a last."""
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)


def identifier(given: str | None) -> str | None:
    """Return an id as it was given, or None: an empty variable of a shell names nobody, and must not stand for
    everybody.

    Raises:
        typer.BadParameter: it can be nobody's id.
    """
    try:
        return given if given is None else _IDENTIFIER.validate_python(given)
    except ValidationError as error:
        raise typer.BadParameter(f"{given!r} is no id: {error.errors()[0]['msg']}") from error


def account() -> str:
    """Return who is at the keyboard, for the audit: the account's name, or its number where the machine has no name for
    it, as in a container that runs as any user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
TenantOption = Annotated[
    str, typer.Option("--tenant", "-t", help="The tenant that the user belongs to.", callback=identifier)
]
ByOption = Annotated[
    str,
    typer.Option(
        "--by",
        help="Who decides, for the audit; the name of your account unless given.",
        callback=identifier,
        default_factory=account,
    ),
]
UserArgument = Annotated[str, typer.Argument(help="The user whose memory it is.", callback=identifier)]
UserOption = Annotated[
    str | None, typer.Option("--user", "-u", help="Only this user's; all of them if left out.", callback=identifier)
]
