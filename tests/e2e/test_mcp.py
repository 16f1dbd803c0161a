"""Memory for clients of the Model Context Protocol: a real client, over HTTP and over standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import EmbeddedResource, TextContent

from memory.keys import issue, revoke
from schema import Capability
from schema.settings import Settings, variable_of
from stores.catalog import Changes, open_catalog
from tests.e2e.command import COMMAND, Home
from tests.e2e.mcp_client import REVISIONS, done, over_http, text_of
from tests.e2e.service import Served, served, settings_in

DEFAULT_TOOLS = {"search_memory", "create_memory", "get_memory", "update_memory", "delete_memory"}
VIOLIN = {"content": "Anna plays the violin.", "memory_type": "user_fact"}
_users = count()


async def found(client: Client, query: str) -> list[str]:
    return [memory["content"] for memory in (await done(client, "search_memory", query=query))["memories"]]


async def whole_life(client: Client) -> None:
    """Remember, search, correct, read and forget."""
    created = await done(client, "create_memory", **VIOLIN, importance=0.8)
    id_ = created["memory_id"]
    assert created["outcome"] == "created"
    assert await found(client, "Which instrument does Anna play?") == [VIOLIN["content"]]
    assert await found(client, "How do I compile a kernel module?") == []
    await done(client, "update_memory", memory_id=id_, updates={"content": "Anna plays the cello."})
    assert (await done(client, "get_memory", memory_id=id_))["memory"]["content"] == "Anna plays the cello."
    assert (await done(client, "delete_memory", memory_id=id_))["status"] == "SUCCESS"
    assert (await done(client, "get_memory", memory_id=id_))["code"] == "not_found"


# -- tools --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", REVISIONS)
def test_a_client_remembers_searches_corrects_and_forgets_over_http(service: Served, user: str, mode: str) -> None:
    over_http(service, service.key(user=user), whole_life, mode=mode)


def test_a_few_tools_are_offered_each_with_what_it_does_and_answers(service: Served, user: str) -> None:
    listed = over_http(service, service.key(user=user), lambda client: client.list_tools())
    tools = {tool.name: tool for tool in listed.tools}
    assert set(tools) == DEFAULT_TOOLS
    hints = {name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint) for name, tool in tools.items()}
    assert hints == {
        "search_memory": (True, False),
        "get_memory": (True, False),
        "create_memory": (False, False),
        "update_memory": (False, True),
        "delete_memory": (False, True),
    }
    for tool in tools.values():
        assert tool.annotations.open_world_hint is False
        assert tool.output_schema["type"] == "object"
        # Whose memory it is comes of the key.
        assert not {"user_id", "tenant_id"} & tool.input_schema["properties"].keys()


def test_a_key_that_may_only_read_is_offered_reading_and_refused_the_rest(service: Served, user: str) -> None:
    id_ = over_http(service, service.key(user=user), lambda c: done(c, "create_memory", **VIOLIN))["memory_id"]

    async def read(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"search_memory", "get_memory"}
        for tool, arguments in (
            ("create_memory", VIOLIN),
            ("update_memory", {"memory_id": id_, "updates": {"importance": 1}}),
            ("delete_memory", {"memory_id": id_}),
        ):
            assert (await done(client, tool, **arguments))["code"] == "forbidden", tool
        assert await found(client, "violin") == [VIOLIN["content"]]

    over_http(service, service.key(Capability.READ, user=user), read)


def test_a_client_sees_nothing_of_another_user(service: Served, user: str) -> None:
    id_ = over_http(service, service.key(user=user), lambda c: done(c, "create_memory", **VIOLIN))["memory_id"]

    async def pry(client: Client) -> None:
        assert await found(client, "violin") == []
        for tool, arguments in (
            ("get_memory", {"memory_id": id_}),
            ("update_memory", {"memory_id": id_, "updates": {"importance": 1}}),
            ("delete_memory", {"memory_id": id_}),
        ):
            assert (await done(client, tool, **arguments))["code"] == "not_found", tool
        for uri in (f"memory://{user}/profile", f"memory://{user}/{id_}"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    over_http(service, service.key(user="stranger"), pry)
    over_http(service, service.key(user="stranger"), pry, mode="legacy")


def test_what_is_private_is_told_to_its_user_alone(service: Served, user: str) -> None:
    secret = "Anna is afraid of flying."
    with service.client(service.key(user=user)) as me:
        id_ = me.post("/api/v1/memories/", json={"content": secret}).json()["memory"]["memory_id"]
    memory = service.catalog.memory(uuid.UUID(id_))
    assert memory is not None
    private = memory.model_copy(update={"private": True, "version": memory.version + 1})
    service.catalog.commit(Changes(subject=memory.subject, at=memory.updated_at, updated=(private,)))

    async def heard(client: Client) -> list[str]:
        return await found(client, "What is Anna afraid of?")

    backend = service.key(Capability.READ, Capability.ACT_AS)
    assert over_http(service, service.key(user=user), heard) == [secret]
    assert over_http(service, backend, heard, query=f"?user_id={user}") == [secret]
    assert over_http(service, backend, heard, query=f"?subject_id={user}") == []


def test_a_setting_names_the_tools_that_are_offered(broker_url: str, tmp_path: Path) -> None:
    names = ("semantic_memory_put", "semantic_memory_search")
    settings = settings_in(tmp_path, broker_url).model_copy(update={"mcp_tools": names})

    async def save(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == set(names)
        await done(client, "semantic_memory_put", summary="Anna saves for a house.", category="goals", importance=4)
        [found] = (await done(client, "semantic_memory_search", query="house", topic="GOALS"))["memories"]
        assert (found["category"], found["importance"]) == ("Goals", 4)
        with pytest.raises(MCPError):
            await client.call_tool("create_memory", VIOLIN)

    with served(settings) as own:
        over_http(own, own.key(user="anna"), save)


# -- resources and prompts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", REVISIONS)
def test_what_is_known_is_read_as_resources(service: Served, user: str, mode: str) -> None:
    async def read(client: Client) -> None:
        assert "Nothing is known" in await text_of(client, f"memory://{user}/profile")
        id_ = (await done(client, "create_memory", **VIOLIN, category="personal"))["memory_id"]
        [profile] = (await client.list_resources()).resources
        text = await text_of(client, profile.uri)
        assert f"## Personal\n- {VIOLIN['content']} [{id_[:8]}" in text
        [template] = (await client.list_resource_templates()).resource_templates
        uri = template.uri_template.replace("{subject}", user).replace("{memory_id}", id_)
        assert json.loads(await text_of(client, uri))["memory"]["content"] == VIOLIN["content"]
        for nothing in (f"memory://{user}/{uuid.uuid4()}", f"memory://{user}/all", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(nothing)

    over_http(service, service.key(user=user), read, mode=mode)


@pytest.mark.parametrize("mode", REVISIONS)
def test_prompts_bring_what_is_known(service: Served, user: str, mode: str) -> None:
    async def pick(client: Client) -> None:
        assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {"context", "what_is_known"}
        id_ = (await done(client, "create_memory", **VIOLIN))["memory_id"]
        [message] = (await client.get_prompt("context", {"question": "Which instrument?"})).messages
        assert isinstance(message.content, TextContent)
        assert f"{VIOLIN['content']} [{id_[:8]}" in message.content.text
        assert message.content.text.endswith("Which instrument?")
        [known, _] = (await client.get_prompt("what_is_known")).messages
        assert isinstance(known.content, EmbeddedResource)
        assert VIOLIN["content"] in str(known.content.resource)
        with pytest.raises(MCPError, match="question"):
            await client.get_prompt("context", {"question": " "})

    over_http(service, service.key(user=user), pick, mode=mode)


# -- the page that says how --------------------------------------------------------------------------------------


def configured() -> list[dict[str, Any]]:
    """The servers that the page's files of clients name."""
    text = (Path(__file__).parents[2] / "docs" / "how-to" / "use-from-an-mcp-client.md").read_text()
    files = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    return [each for file in files for each in (file.get("mcpServers") or file["servers"]).values()]


def starting() -> list[dict[str, Any]]:
    return [each for each in configured() if "command" in each]


def test_the_files_on_the_page_start_a_command_that_is_there(home: Home) -> None:
    assert len(starting()) == 2
    for each in starting():
        assert home.say(*each["args"], "--help").returncode == 0
        assert set(each["env"]) <= {variable_of(name) for name in Settings.model_fields}


def test_the_files_on_the_page_lead_to_the_service(service: Served, user: str) -> None:
    remote = [each for each in configured() if "url" in each]
    assert len(remote) == 2
    for each in remote:
        url = each["url"].replace("http://127.0.0.1:8000", service.url)
        assert post(url, dict.fromkeys(each["headers"], service.key(user=user))).status_code == 200


# -- over HTTP ----------------------------------------------------------------------------------------------------


def post(url: str, headers: dict[str, str]) -> httpx.Response:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    return httpx.post(url, json=message, headers={**accept, **headers}, timeout=30.0)


def test_a_request_has_the_same_keys_as_any_other(service: Served, user: str) -> None:
    url = f"{service.url}/mcp"
    key = {"Authorization": f"Bearer {service.key(user=user)}"}
    assert post(url, key).status_code == 200
    assert post(url, {}).status_code == post(url, {"X-API-Key": "at_wrong"}).status_code == 401
    assert post(f"{url}?user_id=other", key).status_code == 403
    assert post(url, {"X-API-Key": service.key()}).status_code == 422
    assert post(f"{url}?user_id=%01", {"X-API-Key": service.key()}).status_code == 422
    assert httpx.get(url, headers=key, timeout=30.0).status_code == 405


@pytest.mark.parametrize("revision", [None, REVISIONS[0]])
def test_what_is_no_message_is_refused_without_repeating_it(service: Served, user: str, revision: str | None) -> None:
    names = {"Accept": "application/json, text/event-stream"} | ({"MCP-Protocol-Version": revision} if revision else {})
    with service.client(service.key(user=user)) as me:
        for sent in ({"said": "Anna is afraid of flying."}, ["Anna is afraid of flying."], "Anna is afraid of flying."):
            refused = me.post("/mcp", json=sent, headers=names)
            assert (refused.status_code, refused.json()["jsonrpc"]) == (400, "2.0")
            assert not [word for word in ("afraid", "pydantic", "JSONRPCRequest") if word in refused.text]


def test_what_is_not_sent_as_json_is_refused_with_a_problem(service: Served, user: str) -> None:
    with service.client(service.key(user=user)) as me:
        for given in ({"content": "{}"}, {"content": "{}", "headers": {"Content-Type": "text/plain"}}):
            refused = me.post("/mcp", **given)
            assert (refused.status_code, refused.headers["content-type"]) == (415, "application/problem+json")
            assert "application/json" in refused.json()["detail"]


def test_a_page_that_was_led_here_under_another_name_reads_nothing(broker_url: str, tmp_path: Path) -> None:
    with served(settings_in(tmp_path, broker_url), anonymous=True) as open_to_all:
        url = f"{open_to_all.url}/mcp?user_id=anna"
        assert post(url, {}).status_code == 200
        assert post(url, {"Host": "evil.example"}).status_code == 421
        assert post(url, {"Origin": "http://evil.example"}).status_code == 403
        memories = f"{open_to_all.url}/api/v1/memories/?user_id=anna"
        assert httpx.get(memories, timeout=30.0).status_code == 200
        assert httpx.get(memories, headers={"Host": "evil.example"}, timeout=30.0).status_code == 421
        assert httpx.get(memories, headers={"Origin": "http://evil.example"}, timeout=30.0).status_code == 403


def test_a_client_reads_and_is_told_to_try_again_with_what_it_writes_while_the_broker_is_away(tmp_path: Path) -> None:
    async def ask(client: Client) -> None:
        assert await found(client, "violin") == []
        assert (await done(client, "create_memory", **VIOLIN))["code"] == "busy"

    with served(settings_in(tmp_path, "redis://127.0.0.1:1/0"), anonymous=True) as lonely:
        over_http(lonely, lonely.key(user="anna"), ask)


def test_what_a_client_writes_is_an_agents_word_and_not_the_users(service: Served, user: str) -> None:
    id_ = over_http(service, service.key(user=user), lambda c: done(c, "create_memory", **VIOLIN))["memory_id"]
    memory = service.catalog.memory(uuid.UUID(id_))
    assert memory is not None
    assert (memory.source, memory.agent_id, memory.explicit) == ("agent", "mcp", False)


# -- over standard input and output -------------------------------------------------------------------------------


@pytest.fixture
def home(broker_url: str, tmp_path: Path) -> Home:
    """A folder with a catalog, beside a broker that runs."""
    home = Home(tmp_path, int(urlsplit(broker_url).port or 0))
    open_catalog(Settings(data_dir=home.data)).close()
    return home


def over_stdio(home: Home, do: Callable[[Client], Awaitable[Any]], *options: str, mode: str, **env: str) -> str:
    """What a client does with a server that it starts; returns what the server wrote to standard error."""
    command, *first = COMMAND
    parameters = StdioServerParameters(
        command=command, args=[*first, *options], env=home.environment(**env), cwd=Path.cwd()
    )
    errors = home.folder / "errors"

    async def ask() -> None:
        with errors.open("w") as log:
            async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:
                await do(client)

    asyncio.run(ask())
    return errors.read_text()


def test_a_client_remembers_searches_corrects_and_forgets_over_stdio(home: Home) -> None:
    # The client takes every line of standard output for a message: nothing else may stand there.
    over_stdio(home, whole_life, *starting()[0]["args"], mode="legacy", AFTERTURN_LOG_LEVEL="debug")


def test_a_key_in_the_environment_says_whose_memory_it_is_and_what_may_be_done(home: Home) -> None:
    catalog = open_catalog(Settings(data_dir=home.data))
    now = datetime.now(UTC)
    issued = issue("test", "acme", (Capability.READ, Capability.WRITE), catalog, by="test", now=now, user_id="anna")

    async def read(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"search_memory", "get_memory"}
        [profile] = (await client.list_resources()).resources
        assert profile.uri == "memory://anna/profile"
        assert (await done(client, "create_memory", **VIOLIN))["code"] == "forbidden"
        revoke(issued.key.id, catalog, now=now)
        with pytest.raises(MCPError):
            await client.get_prompt("what_is_known")

    said = over_stdio(home, read, "mcp", "--read-only", mode=REVISIONS[0], AFTERTURN_MCP_KEY=issued.secret)
    catalog.close()
    assert issued.secret not in said


@pytest.mark.parametrize(
    ("options", "environment", "named"),
    [
        ([], {}, "--user"),
        (["--user", "anna"], {"AFTERTURN_MCP_KEY": "at_wrong"}, "AFTERTURN_MCP_KEY"),
        (["--user", "anna"], {"AFTERTURN_MCP_TOOLS": '["fly"]'}, "AFTERTURN_MCP_TOOLS"),
        (["--user", "anna"], {"AFTERTURN_DATA_DIR": "nowhere"}, "AFTERTURN_DATA_DIR"),
    ],
)
def test_a_server_that_cannot_begin_says_why_on_standard_error(
    home: Home, monkeypatch: pytest.MonkeyPatch, options: list[str], environment: dict[str, str], named: str
) -> None:
    # The log of this process is the tests' own.
    monkeypatch.setattr("interfaces.cli.mcp.configure_logging", lambda level: None)
    said = home.say("mcp", *options, **environment)
    assert (said.returncode, said.stdout) == (2, "")
    assert named in said.stderr
