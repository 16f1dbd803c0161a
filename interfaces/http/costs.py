"""Costs of models for a tenant, over HTTP."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from interfaces.http.credentials import Admin
from interfaces.http.query_parameters import Cursor
from interfaces.http.service import Opened
from recall.costs import fields_of_cost, first_day, page_of_costs
from schema.turn import Identifier
from stores.catalog.costs import By, Prices

router = APIRouter(prefix="/api/v1/costs", tags=["costs"])


class CostOut(BaseModel):
    """Calls of models of one group: of it is set what they were added up by. A call about several conversations is a
    part of a call of each; `conversation_id` is empty for what was of none. `cost` is null where no price is set."""

    day: date | None = None
    tenant_id: str | None = None
    user_id: str | None = None
    conversation_id: str | None = None
    purpose: str | None = None
    llm_calls: float
    prompt_tokens: float
    completion_tokens: float
    embedding_calls: float
    embedding_texts: float
    embedding_tokens: float
    cost: float | None


class CostsOut(BaseModel):
    """A page of costs from the day `since` on; `cursor` asks for the next one, and is null on the last."""

    since: date
    items: list[CostOut]
    cursor: str | None


@router.get("", summary="What language models and embedders were asked for, and what that cost")
def list_(
    principal: Admin,
    service: Opened,
    by: Annotated[By, Query(description="add up by day (UTC), conversation, purpose, or the whole tenant")] = By.DAY,
    days: Annotated[int, Query(ge=1, le=36_500, description="how many days to look back, today among them")] = 30,
    user_id: Annotated[Identifier | None, Query(description="unset: of everybody of the tenant")] = None,
    cursor: Cursor = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> CostsOut:
    """Tell what the tenant's users had models asked for, as `afterturn costs` does: the latest day first, others by
    their names. Money is reckoned by the prices as they are set now."""
    since, prices = first_day(days, datetime.now(UTC)), Prices.of(service.settings)
    sums, following = page_of_costs(
        by,
        since,
        service.context.catalog,
        tenant_id=principal.tenant_id,
        user_id=user_id,
        cursor=cursor,
        limit=limit,
    )
    items = [CostOut.model_validate(fields_of_cost(by, total, prices)) for total in sums]
    return CostsOut(since=since, items=items, cursor=following or None)
