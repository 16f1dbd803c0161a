"""`graph`: walk the facts around an entity."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import JsonOption, TenantOption, UserArgument
from interfaces.cli.output import print_result, short
from memory.embedding import counted
from recall.anchors import EntityName, Question, look_up
from recall.graph import around
from schema import Subject
from schema.errors import NotFound
from schema.settings import load_settings
from stores.graph import Relation
from stores.open import open_stores


def graph(
    user: UserArgument,
    entity: Annotated[str, typer.Argument(help="A person, place or thing that is spoken of; `user` is the user.")],
    tenant: TenantOption = "default",
    hops: Annotated[int, typer.Option("--hops", "-n", min=1, max=6, help="How many steps to walk.")] = 1,
    question: Annotated[
        bool, typer.Option("--question", "-q", help="ENTITY is a question: begin at the memories it finds.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Walk from an entity to the facts about it, to what these name, and to the turns that said so."""
    subject = Subject(tenant_id=tenant, subject_id=user)
    with closing(open_stores(load_settings(), counted, makes_catalog=False)) as stores:
        try:
            if question:
                asked, whose = Question(entity, hops=hops - 1), EntityName("user_id", user)
                facts = look_up(None, subject, whose, stores, question=asked, now=datetime.now(UTC)).facts
                relations = [fact.relation for fact in facts]
            else:
                relations = around(None, subject, [entity], stores, hops=hops)
        except NotFound:
            relations = []
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    print_result(
        [_as_json(relation) for relation in relations], _table(relations) if relations else "no facts", as_json=as_json
    )


def _as_json(relation: Relation) -> dict[str, object]:
    return {
        "entity": relation.entity,
        "verb": relation.verb,
        "object": relation.object,
        "attribute": relation.attribute,
        "distance": relation.distance,
        "memory_id": str(relation.memory_id),
        "sources": list(relation.sources),
    }


def _table(relations: list[Relation]) -> Table:
    table = Table(expand=True)
    for name in ("entity", "verb", "object"):
        table.add_column(name, ratio=1)
    for name in ("memory", "from turns"):
        table.add_column(name, no_wrap=name == "memory", style="cyan" if name == "memory" else "")
    for relation in relations:
        table.add_row(
            *(Text(part) for part in (relation.entity, relation.verb, relation.object)),
            short(relation.memory_id),
            Text(", ".join(relation.sources)),
        )
    return table
