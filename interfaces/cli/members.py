"""Members of subjects that are not themselves, such as a story archive: `members list`, `set`, `remove`."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import ByOption, JsonOption, TenantOption, identifier
from interfaces.cli.output import console, print_json
from memory.members import remove_member, set_member
from schema import MemberRole, Subject
from schema.settings import load_policy, load_settings
from stores.catalog import open_catalog

SubjectArgument = Annotated[
    str, typer.Argument(help="The subject: a story archive, an organisation, a user.", callback=identifier)
]
MemberArgument = Annotated[str, typer.Argument(help="The user who is a member.", callback=identifier)]

app = typer.Typer(
    name="members",
    help="""Who sees a subject that is not themself. A user needs no membership to see what is known about them.

    \b
    creator, admin, advocate  what is public or private, and what is personal to them
    admirer                   what is public, and what is personal to them
    pending                   nothing yet
    """,
    no_args_is_help=True,
)


@app.command("list")
def list_members(subject: SubjectArgument, tenant: TenantOption = "default", as_json: JsonOption = False) -> None:
    """List the members of a subject with their roles."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        members = catalog.members.of(Subject(tenant_id=tenant, subject_id=subject))
    if as_json:
        print_json([member.model_dump(mode="json", exclude={"subject"}) for member in members])
        return
    if not members:
        console.print(f"{subject} has no members: add one with `afterturn members set {subject} USER ROLE`")
        return
    table = Table(title=f"Members of {subject}", title_justify="left")
    for column in ("user", "role", "since", "by"):
        table.add_column(column)
    for member in members:
        table.add_row(Text(member.user_id), member.role.value, f"{member.since:%Y-%m-%d}", Text(member.by))
    console.print(table)


@app.command("set")
def set_(
    subject: SubjectArgument,
    user: MemberArgument,
    role: Annotated[MemberRole, typer.Argument(help="What the user is to the subject from now on.")],
    by: ByOption,
    tenant: TenantOption = "default",
) -> None:
    """Make a user a member of a subject, or give a member another role."""
    with closing(open_catalog(load_settings())) as catalog:
        set_member(
            Subject(tenant_id=tenant, subject_id=subject),
            user,
            role,
            catalog,
            by=by,
            now=datetime.now(UTC),
            policy_version=load_policy().version,
        )
    console.print(Text(f"{user} is {role.value} of {subject}"))


@app.command()
def remove(subject: SubjectArgument, user: MemberArgument, by: ByOption, tenant: TenantOption = "default") -> None:
    """Take a user's membership away: they see nothing of the subject from now on."""
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        remove_member(
            Subject(tenant_id=tenant, subject_id=subject),
            user,
            catalog,
            by=by,
            now=datetime.now(UTC),
            policy_version=load_policy().version,
        )
    console.print(Text(f"{user} is no member of {subject} any more"))
