"""`topics`: open topics of a user."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta

from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import JsonOption, TenantOption, UserArgument
from interfaces.cli.output import console, print_json
from schema import Subject, utc_iso
from schema.settings import load_policy, load_settings
from stores.catalog import open_catalog


def topics(user: UserArgument, tenant: TenantOption = "default", as_json: JsonOption = False) -> None:
    """List what a user began to tell an agent and a language model still waits for, latest first."""
    fresh_for = timedelta(hours=load_policy().open_topic_hours)
    with closing(open_catalog(load_settings(), makes_catalog=False)) as catalog:
        open_topics = catalog.open_topics(Subject(tenant_id=tenant, subject_id=user))
    now = datetime.now(UTC)
    live = [(topic, since) for topic, since in open_topics if now - since <= fresh_for]
    if as_json:
        print_json([topic.model_dump(mode="json") | {"since": since.isoformat()} for topic, since in live])
    elif live:
        table = Table(title=f"What is open with {user}", title_justify="left", expand=True)
        table.add_column("agent", no_wrap=True)
        table.add_column("topic", ratio=1)
        table.add_column("since", no_wrap=True)
        for topic, since in live:
            table.add_row(topic.agent_id or "", Text(topic.text), utc_iso(since))
        console.print(table)
    else:
        console.print(f"nothing is open with {user} (tenant {tenant})")
