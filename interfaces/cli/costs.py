"""`costs`: what models were asked for, by day, conversation, tenant or purpose, and what that cost."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from rich.table import Table

from interfaces.cli.arguments import MOST_DAYS, JsonOption, TenantOption, UserOption
from interfaces.cli.output import console, print_json
from recall.costs import fields_of_cost, first_day
from schema.settings import load_settings
from stores.catalog import open_catalog
from stores.catalog.costs import By, Prices

_NOT_IN_IT: Final = (
    "Not in it: the embeddings of plain searches, of documents that came to nothing, of repairs and of starts, and "
    "what a model answered too late. The metrics count every call of a process (afterturn_llm_cost_total, "
    "afterturn_embedding_cost_total)."
)
_NO_PRICE: Final = (
    "no price is set: AFTERTURN_LLM_PRICE_PROMPT, AFTERTURN_LLM_PRICE_COMPLETION and AFTERTURN_EMBEDDER_PRICE, of a "
    "million tokens"
)
_NO_CONVERSATION: Final = "(no conversation)"
_HEADS: Final = {
    By.DAY: "day (UTC)",
    By.CONVERSATION: "user, conversation",
    By.TENANT: "tenant",
    By.PURPOSE: "what for",
}


def costs(
    by: Annotated[By, typer.Option(help="Add up by day (UTC), conversation, tenant or purpose.")] = By.DAY,
    days: Annotated[int, typer.Option("--days", "-d", min=1, max=MOST_DAYS, help="How many days to look back.")] = 30,
    user: UserOption = None,
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Tell what language models and embedders were asked for: tokens and, with prices set, money. By tenant it is told
    of all of them, otherwise of one."""
    settings = load_settings()
    since = first_day(days, datetime.now(UTC))
    whose = None if by is By.TENANT else tenant
    with closing(open_catalog(settings, makes_catalog=False)) as catalog:
        sums = catalog.costs.added_up(by, since, tenant_id=whose, subject_id=user)
    prices = Prices.of(settings)
    if as_json:
        print_json([fields_of_cost(by, total, prices) for total in sums])
        return
    if not sums:
        console.print(f"no call of a model is known of the last {days} days")
        return
    table = Table(expand=True)
    table.add_column(_HEADS[by], ratio=1)
    for column in ("model calls", "prompt tokens", "completion tokens", "texts embedded", "their tokens", "cost"):
        table.add_column(column, justify="right")
    for total in sums:
        money = total.cost(prices)
        table.add_row(
            ", ".join(part or _NO_CONVERSATION for part in total.group[by is By.CONVERSATION :]),
            f"{total.llm_calls:,.10g}",
            f"{total.prompt_tokens:,.0f}",
            f"{total.completion_tokens:,.0f}",
            f"{total.embedding_texts:,.0f}",
            f"{total.embedding_tokens:,.0f}",
            "not known" if money is None else f"{money:,.4f}",
        )
    console.print(table)
    if not prices.is_set:
        console.print(_NO_PRICE, soft_wrap=True)
    console.print(_NOT_IN_IT, soft_wrap=True, style="dim")
