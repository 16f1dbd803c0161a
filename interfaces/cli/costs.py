"""`costs`: what language models were asked for, by day or by conversation, and what that cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

import typer
from rich.table import Table

from interfaces.cli.arguments import JsonOption, TenantOption, UserOption
from interfaces.cli.output import console, print_json
from schema.settings import load_settings
from stores.catalog import open_catalog
from stores.catalog.costs import CountedCall

_NOT_IN_IT: Final = (
    "Not in it: calls of which nothing was kept, changed or refused, those of the hot path, of searches in rounds and "
    "of the nights, and embeddings. The metrics count all calls of a process (afterturn_llm_tokens_total)."
)
_NO_PRICE: Final = "no price is set: AFTERTURN_LLM_PRICE_PROMPT and AFTERTURN_LLM_PRICE_COMPLETION, of a million tokens"
_NOT_KEPT: Final = "(its turn is not kept)"


class By(StrEnum):
    """Column by which calls are added up."""

    DAY = "day"
    CONVERSATION = "conversation"


@dataclass
class Sum:
    """Calls and tokens of a day or a conversation. A call about several conversations is a part of a call of each."""

    calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0

    def cost(self, prices: tuple[float, float]) -> float | None:
        """Return what it cost by the prices of a million tokens; None where there are none."""
        if not any(prices):
            return None
        return (self.prompt_tokens * prices[0] + self.completion_tokens * prices[1]) / 1e6


def costs(
    by: Annotated[By, typer.Option(help="Add up by day (UTC) or by conversation.")] = By.DAY,
    days: Annotated[int, typer.Option("--days", "-d", min=1, help="How many days to look back.")] = 30,
    user: UserOption = None,
    tenant: TenantOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Tell what language models were asked for while turns were processed: tokens and, with prices set, money."""
    settings = load_settings()
    since = datetime.now(UTC) - timedelta(days=days)
    with closing(open_catalog(settings, makes_catalog=False)) as catalog:
        sums = added_up(catalog.costs.calls(tenant, since, user), by)
    prices = settings.llm_price_prompt, settings.llm_price_completion
    if as_json:
        print_json([_json(by, group, total, prices) for group, total in sums.items()])
        return
    if not sums:
        console.print(f"no call of a language model is known of the last {days} days")
        return
    table = Table(expand=True)
    table.add_column("day (UTC)" if by is By.DAY else "user, conversation", ratio=1)
    for column in ("calls", "prompt tokens", "completion tokens", "cost"):
        table.add_column(column, no_wrap=True, justify="right")
    for group, total in sums.items():
        money = total.cost(prices)
        table.add_row(
            ", ".join(group),
            f"{total.calls:,.10g}",
            f"{total.prompt_tokens:,.0f}",
            f"{total.completion_tokens:,.0f}",
            "not known" if money is None else f"{money:,.4f}",
        )
    console.print(table)
    if not any(prices):
        console.print(_NO_PRICE, soft_wrap=True)
    console.print(_NOT_IN_IT, soft_wrap=True, style="dim")


def added_up(calls: Iterable[CountedCall], by: By) -> dict[tuple[str, ...], Sum]:
    """Return the sums, of days the latest first, of conversations by user. A call about several is split by their
    turns."""
    sums: dict[tuple[str, ...], Sum] = defaultdict(Sum)
    for call in calls:
        turns = sum(call.turns.values())
        for conversation, of_it in call.turns.items():
            day = (call.at.date().isoformat(),)
            total = sums[day if by is By.DAY else (call.subject_id, conversation or _NOT_KEPT)]
            share = of_it / turns
            total.calls += share
            total.prompt_tokens += call.prompt_tokens * share
            total.completion_tokens += call.completion_tokens * share
    return dict(sorted(sums.items(), reverse=by is By.DAY))


def _json(by: By, group: tuple[str, ...], total: Sum, prices: tuple[float, float]) -> dict[str, object]:
    named = {"day": group[0]} if by is By.DAY else dict(zip(("user_id", "conversation_id"), group, strict=True))
    return {
        **named,
        "calls": round(total.calls, 3),
        "prompt_tokens": round(total.prompt_tokens),
        "completion_tokens": round(total.completion_tokens),
        "cost": total.cost(prices),
    }
