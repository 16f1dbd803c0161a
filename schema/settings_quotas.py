"""Settings of quotas: what one user, and one tenant, may cost. None but that of items bites unless it is set."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic_settings import BaseSettings


class QuotaSettings(BaseSettings):
    """Settings of how much a user and a tenant may send and have kept."""

    quota_user_turns_per_minute: Annotated[int, Field(ge=0)] = Field(
        0,
        description="turns a minute that one user may enqueue: past that `enqueue` raises `QuotaExceeded` and the "
        "service answers 429; 0: no limit",
    )
    quota_tenant_turns_per_minute: Annotated[int, Field(ge=0)] = Field(
        0, description="turns a minute that all users of a tenant may enqueue together, as above; 0: no limit"
    )
    quota_user_memories: Annotated[int, Field(ge=0)] = Field(
        0,
        description="memories of one user, superseded ones apart, past which nothing new is kept; what is known is "
        "still changed and forgotten; 0: no limit",
    )
    quota_tenant_memories: Annotated[int, Field(ge=0)] = Field(
        0, description="memories of all users of a tenant, as above, counted once a minute; 0: no limit"
    )
    quota_user_source_bytes: Annotated[int, Field(ge=0)] = Field(
        0,
        description="bytes of the raw turns kept of one user past which memories are kept without their words, counted "
        "once a minute; 0: no limit",
    )
    quota_tenant_source_bytes: Annotated[int, Field(ge=0)] = Field(
        0, description="bytes of the raw turns of all users of a tenant, as above; 0: no limit"
    )
    quota_user_items: Annotated[int, Field(ge=0)] = Field(
        100_000, description="items of the LangGraph store of one user; past that nothing new is kept; 0: no limit"
    )
