"""Settings of the agents: which of them remember, and how they are given what they need before they answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic_settings import BaseSettings

from schema.base import Value


class AgentSwitches(Value):
    """Features an agent takes part in. Source: "VOS Memory System", the toggles of its two modules."""

    model_config = ConfigDict(extra="forbid")

    creator: bool = True
    """True where what is said to it is remembered; orders to the memory always are."""
    retriever: bool = True
    """True where it is given memories in rounds before it answers."""


class AgentSettings(BaseSettings):
    """Settings of the features of each agent, and of retrieval in rounds.

    Source of the defaults: "VOS Memory System", "Memory Retriever Module"; the deadline is ours.
    """

    agents: dict[str, AgentSwitches] = Field(
        {},
        description='agents that take no part in something, as JSON: {"weather": {"creator": false, "retriever": '
        "false}}; one that is not named takes part in all",
    )
    creator_messages: Annotated[int, Field(ge=0, le=100)] = Field(
        10, description="last messages of a turn's own history by which it is understood; 0: none of them"
    )
    retriever_every_turns: Annotated[int, Field(ge=1, le=1000)] = Field(
        1, description="before every how many turns of a conversation memories are retrieved in rounds"
    )
    retriever_messages: Annotated[int, Field(ge=1, le=100)] = Field(
        10, description="last messages of a conversation that the model of the retriever sees"
    )
    retriever_rounds: Annotated[int, Field(ge=1, le=10)] = Field(
        3, description="rounds of searching that the model of the retriever has"
    )
    retriever_deadline_ms: Annotated[float, Field(ge=50, le=60_000)] = Field(
        1_500.0, description="milliseconds after which the retriever gives the best that it has found"
    )

    def switches_of(self, agent_id: str | None) -> AgentSwitches:
        """Return what an agent takes part in; whoever names none takes part in all."""
        return self.agents.get(agent_id or "", AgentSwitches())
