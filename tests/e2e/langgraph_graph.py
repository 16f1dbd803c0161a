"""What LangGraph and LangMem themselves do with the client, in an environment that has them; prints it as JSON.

Run by test_langgraph_graph.py, with the service in `AFTERTURN_URL` and `AFTERTURN_API_KEY`.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.base import BaseStore
from langmem import create_manage_memory_tool, create_search_memory_tool

from afterturn_client import AsyncClient, Client
from afterturn_client.langgraph import AfterturnStore, context_node, hot_path_node, turn_node
from tests.e2e.pages import Page

NAMESPACE = ("memories", "{langgraph_user_id}")
"""As LangMem's own examples have it: the user is the second label."""


def langmem_tools(client: Client) -> dict[str, Any]:
    """LangMem's two tools, each called as an agent calls it, and what comes back."""
    store = AfterturnStore(client, user_at=1)
    manage, search = (make(NAMESPACE, store=store) for make in (create_manage_memory_tool, create_search_memory_tool))
    mine, theirs = ({"configurable": {"langgraph_user_id": user}} for user in ("ida", "ivo"))

    def found(config: Any) -> list[str]:
        hits = json.loads(search.invoke({"query": "Which instrument does she play?"}, config))
        return [hit["value"]["content"] for hit in hits]

    created = manage.invoke({"content": "Ida plays the violin."}, mine)
    [id_] = [item.key for item in store.search(("memories", "ida"))]
    told = {"created": created == f"created memory {id_}", "found": found(mine), "by another": found(theirs)}
    manage.invoke({"action": "update", "id": id_, "content": "Ida plays the cello."}, mine)
    told["updated"] = found(mine)
    manage.invoke({"action": "delete", "id": id_}, mine)
    return {**told, "deleted": found(mine)}


async def langmem_tools_awaited(client: AsyncClient) -> list[str]:
    """The same, awaited."""
    store = AfterturnStore(client, user_at=1)
    manage, search = (make(NAMESPACE, store=store) for make in (create_manage_memory_tool, create_search_memory_tool))
    config: Any = {"configurable": {"langgraph_user_id": "ina"}}
    await manage.ainvoke({"content": "Ina plays the violin."}, config)
    hits = json.loads(await search.ainvoke({"query": "Which instrument does she play?"}, config))
    return [hit["value"]["content"] for hit in hits]


def propose(said: str) -> str | None:
    order = "remember: "
    return said[len(order) :] if said.lower().startswith(order) else None


async def answer(state: MessagesState, config: RunnableConfig, *, store: BaseStore) -> dict[str, Any]:
    """Stand for a model: say what the system messages say, and note in the graph's store what was asked."""
    user = config["configurable"]["user_id"]
    asked = state["messages"][-1].text
    await store.aput((user, "asked"), str(len(state["messages"])), {"text": asked})
    told = " ".join(str(message.text) for message in state["messages"] if isinstance(message, SystemMessage))
    if asked != "Use a tool.":
        return {"messages": [AIMessage(told or "I know nothing.")]}
    call = {"name": "manage_memory", "args": {"content": "Likes tools."}, "id": "call", "type": "tool_call"}
    return {"messages": [AIMessage("", tool_calls=[call])]}


def graph_over(client: Client | AsyncClient) -> Any:
    """A graph with the nodes of the page, a store, and one of LangMem's tools that finds the store by itself."""
    builder = StateGraph(MessagesState)
    builder.add_node("memory_hotpath", hot_path_node(client, propose))
    builder.add_node("memory_context", context_node(client, tokens=400))
    builder.add_node("agent", answer)
    builder.add_node("tools", ToolNode([create_manage_memory_tool(("{user_id}", "memories"))]))
    builder.add_node("memory_turn", turn_node(client))
    builder.add_edge(START, "memory_hotpath")
    builder.add_edge("memory_hotpath", "memory_context")
    builder.add_edge("memory_context", "agent")
    builder.add_conditional_edges(
        "agent", lambda state: "tools" if state["messages"][-1].tool_calls else "memory_turn", ["tools", "memory_turn"]
    )
    builder.add_edge("tools", "memory_turn")
    builder.add_edge("memory_turn", END)
    return builder.compile(checkpointer=InMemorySaver(), store=AfterturnStore(client, fields=["text"]))


async def run_graph(client: Client | AsyncClient, user: str) -> dict[str, Any]:
    """What a user is told in a conversation of three turns, the first of which is remembered on the hot path."""
    graph, store = graph_over(client), AfterturnStore(client, fields=["text"])
    config: Any = {"configurable": {"user_id": user, "thread_id": f"thread-{user}"}}

    async def say(said: str) -> dict[str, Any]:
        state: dict[str, Any] = await graph.ainvoke({"messages": [HumanMessage(said)]}, config)
        return state

    await say(f"Remember: {user} is vegan.")
    async with AsyncClient() as reader, asyncio.timeout(60):
        while not [memory async for memory in reader.memories(user_id=user)]:
            await asyncio.sleep(0.05)
    await say("What can I cook?")
    answers = await say("And for tomorrow?")
    await say("Use a tool.")
    left = client.flush(60)
    return {
        "kinds": [message.type for message in answers["messages"]],
        "told": answers["messages"][-1].text,
        "namespaces": [list(one) for one in await store.alist_namespaces(prefix=(user,))],
        "noted": sorted(item.value["text"] for item in await store.asearch((user, "asked"))),
        "left": left if isinstance(left, int) else await left,
    }


def graph_of_the_page(client: Client) -> str:
    """What the graph on the page answers, with a model that says what it was told."""

    def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(" ".join(str(message.text) for message in state["messages"]))]}

    client.remember("Maya is vegan.", user_id="maya")
    page = Page("use-from-langgraph")
    nodes = page.run("context_node(client")
    shown = page.run("StateGraph(", **nodes, call_model=call_model)
    nodes["client"].close(60)
    return str(shown["answered"]["messages"][-1].text)


async def main() -> None:
    """Print what each of them told."""
    told: dict[str, Any] = {}
    with Client(budget_ms=20_000) as client:
        told["langmem"] = langmem_tools(client)
        told["graph"] = await run_graph(client, "uma")
        told["graph of the page"] = graph_of_the_page(client)
    async with AsyncClient(budget_ms=20_000) as awaited:
        told["langmem awaited"] = await langmem_tools_awaited(awaited)
        told["graph awaited"] = await run_graph(awaited, "udo")
    print(json.dumps(told))


asyncio.run(main())
