"""What the pages say is what the code does, as far as it can be compared."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakeredis import FakeRedis, FakeServer
from pydantic import BaseModel
from typer.core import TyperCommand, TyperGroup

from interfaces.cli.configuration import env_example
from memory.events import stream_key
from schema import MAX_TURN_BYTES, SCHEMA_VERSION, EventName, Message, Policy, Subject, Turn
from schema.errors import QuotaExceeded
from schema.settings import Settings, variable_of
from stores.catalog.tables import metadata
from stores.embedding.minilm import MiniLM
from stores.embedding.multilingual import MultilingualE5
from stores.mailbox import Mailbox, TurnQuota
from stores.queue import DEAD_LETTER, DEAD_LETTER_QUEUE, DRAIN_MAILBOX, INGEST_QUEUE, INGEST_TURN, NIGHTLY_QUEUE
from tests.commands import all_commands

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Not all that lies under the root: a run keeps its data there, and a benchmark another memory's environment.
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "deploy").rglob("*.md")])
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text())


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in _FENCE.findall(page.read_text()) if found == language]


def anchors(page: Path) -> set[str]:
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(prose(page)))
    return {heading.replace(" ", "-") for heading in kept}


def rows(text: str) -> Iterator[list[str]]:
    """The cells of every row of the tables in a text, headings and rules left out."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        is_heading = place + 1 < len(lines) and lines[place + 1].startswith("| ---")
        if line.startswith("| ") and not line.startswith("| ---") and not is_heading:
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def section(page: Path, heading: str) -> str:
    _, _, rest = page.read_text().partition(f"\n{heading}\n")
    assert rest, heading
    level = heading.split(" ", 1)[0]
    return re.split(rf"^#{{1,{len(level)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def written(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case dict():
            return json.dumps(value)
        case tuple():
            return json.dumps(list(value))
        case _:
            return str(value)


# -- links --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in _LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


def test_the_index_names_every_page() -> None:
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in _LINK.findall((DOCS / "README.md").read_text())}
    assert {page for page in DOCS.rglob("*.md") if page.name != "README.md"} <= linked


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(page.name[:4]) for page in DECISIONS]
    assert numbers == list(range(1, len(DECISIONS) + 1))
    assert all(page.read_text().startswith(f"# {page.name[:4]}: ") for page in DECISIONS)


# -- commands and examples ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_on_a_page_exists(page: Path) -> None:
    said = [*blocks(page, "sh"), *_CODE.findall(prose(page))]
    text = "\n".join(said)
    commands = set(re.findall(r"\bafterturn ([a-z]+(?:-[a-z]+)*)", text))
    # `--tag afterturn .` and the like name the image.
    commands -= {"turns"}
    assert commands <= set(all_commands().commands)
    targets = set(re.findall(r"\bmake ([a-z-]+)", text))
    assert targets <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_fresh_shell_finds_our_commands_as_they_are_written(page: Path) -> None:
    lines = [line for block in _SHELL.findall(page.read_text()) for line in block.splitlines()]
    assert [line for line in lines if re.match(r" *(\w+=\S+ )*(afterturn|pip |python -m (?!pip ))", line)] == []
    locks = re.findall(r"-r (locks/[\w.-]*\w)", page.read_text())
    assert [lock for lock in locks if not (ROOT / lock).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_shell_sets_reaches_what_it_starts(page: Path) -> None:
    """A line that only sets variables needs `export`; what belongs into `.env` is marked `ini`."""
    lines = [line for block in _SHELL.findall(page.read_text()) for line in block.replace("\\\n", "").splitlines()]
    ours = [line for line in lines if re.match(r" *AFTERTURN_\w+=", line)]
    assert [line for line in ours if all("=" in word for word in shlex.split(line, comments=True))] == []


def commands_of(group: TyperGroup, before: str = "") -> Iterator[tuple[str, TyperCommand]]:
    for name, one in sorted(group.commands.items()):
        if isinstance(one, TyperGroup):
            yield from commands_of(one, f"{before}{name} ")
        elif isinstance(one, TyperCommand) and not one.hidden:
            yield f"{before}{name}", one


def row_of(name: str, one: TyperCommand) -> str:
    shown = [part for part in one.params if not getattr(part, "hidden", False)]
    arguments = [
        str(part.name).upper() if part.required else f"[{str(part.name).upper()}]"
        for part in shown
        if part.param_type_name == "argument"
    ]
    options = [f"`{part.opts[0]}`" for part in shown if part.param_type_name == "option"]
    sentence = " ".join((one.help or "").partition("\n\n")[0].split())
    return f"| `{' '.join(['afterturn', name, *arguments])}` | {sentence} | {' '.join(options)} |"


def test_the_page_of_commands_has_every_command_with_its_options() -> None:
    head = ["| command | what it does | options |", "| --- | --- | --- |"]
    table = "\n".join([*head, *(row_of(name, one) for name, one in commands_of(all_commands()))]) + "\n"
    if table not in (DOCS / "reference" / "commands.md").read_text():
        pytest.fail(f"docs/reference/commands.md must have this table:\n\n{table}", pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_python_example_compiles(page: Path) -> None:
    for text in blocks(page, "python"):
        compile(text, name_of(page), "exec")


def test_the_turn_on_the_page_of_the_contract_is_one_that_a_worker_takes() -> None:
    examples = [text for text in blocks(DOCS / "reference" / "queue-contract.md", "json") if '"turn_id"' in text]
    assert examples
    for text in examples:
        Turn.model_validate_json(text)


# -- settings -----------------------------------------------------------------------------------------------------


def table_of(model: type[BaseModel]) -> str:
    """The table of a settings class as the page must have it."""
    lines = ["| variable | default | what it does |", "| --- | --- | --- |"]
    for name, info in model.model_fields.items():
        default = written(info.get_default())
        lines.append(f"| `{variable_of(name)}` | {f'`{default}`' if default else 'unset'} | {info.description} |")
    return "\n".join(lines) + "\n\n"


@pytest.mark.parametrize(
    ("model", "heading"),
    [(Settings, "## Where things are and how much of them"), (Policy, "## What the policies believe")],
)
def test_the_page_of_settings_has_every_setting_with_its_default(model: type[BaseModel], heading: str) -> None:
    table = table_of(model)
    if table not in section(DOCS / "reference" / "settings.md", heading):
        pytest.fail(f"docs/reference/settings.md, {heading!r}, must have this table:\n\n{table}", pytrace=False)


def test_the_page_of_settings_has_the_thresholds_of_the_embedders() -> None:
    page = section(DOCS / "reference" / "settings.md", "## What the policies believe")
    told = [tuple(row) for row in rows(page.rpartition("\n| variable |")[2])]
    multilingual = MultilingualE5.thresholds.model_dump()
    assert told == [
        (f"`{name.upper()}`", f"`{value}`", f"`{multilingual[name]}`")
        for name, value in MiniLM.thresholds.model_dump().items()
    ]


def test_the_example_of_an_environment_is_what_the_command_prints() -> None:
    assert (ROOT / ".env.example").read_text() == env_example(), "afterturn settings --example > .env.example"


def test_the_page_of_sources_accounts_for_every_policy_constant() -> None:
    text = section(DOCS / "reference" / "sources.md", "## The policy constants")
    told = dict(re.findall(r"`([A-Z_]+)` ([\d.]+|true|false|keep|mask|drop|measured)", text))
    assert set(told) == {variable_of(name) for name in Policy.model_fields}
    for name, info in Policy.model_fields.items():
        default, said = info.get_default(), told[variable_of(name)]
        assert said == written(default) if isinstance(default, bool | str) else float(said) == default, name


def test_the_page_on_running_the_fleet_explains_every_line_of_the_log() -> None:
    code = "".join(
        path.read_text() for room in ("memory", "stores", "worker") for path in sorted((ROOT / room).rglob("*.py"))
    )
    written = set(re.findall(r'(?:_log|get_logger\(\))\.(?:info|warning|error|exception)\(\s*"(\w+)"', code))
    told = {name for row in rows((DOCS / "how-to" / "run-the-fleet.md").read_text()) for name in _CODE.findall(row[0])}
    assert written == told


# -- contracts ----------------------------------------------------------------------------------------------------


def turn(turn_id: str, user_id: str) -> Turn:
    return Turn.model_validate(
        {
            "turn_id": turn_id,
            "tenant_id": "t",
            "user_id": user_id,
            "conversation_id": "c",
            "messages": [Message(role="user", content="hello")],
            "occurred_at": "2026-11-02T09:30:00Z",
        }
    )


def keys_in(redis: FakeRedis) -> set[str]:
    return {key.decode() if isinstance(key, bytes) else key for key in redis.scan_iter()}


def keys_that_a_mailbox_writes() -> set[str]:
    redis = FakeRedis(server=FakeServer(), version=(7,))
    mailbox = Mailbox(redis, notify=lambda _: None, slots=1)
    first, second = (Subject(tenant_id="t", subject_id=user) for user in ("a", "b"))
    names: set[str] = set()
    for subject in (first, second):
        for number in range(2):
            mailbox.append(turn(f"{number}", subject.subject_id), 5, TurnQuota(user=2, tenant=4), waited=number)
            names |= keys_in(redis)
    for quota in (TurnQuota(user=1), TurnQuota(tenant=1)):
        with pytest.raises(QuotaExceeded):
            mailbox.append(turn("more", "a"), look_after=5, quota=quota)
        names |= keys_in(redis)
    for subject in (first, second):
        batch = mailbox.acquire(subject, limit=1, lease_seconds=30)
        assert batch is not None
        names |= keys_in(redis)
        if subject == first:
            mailbox.release(batch, retry_in=60, blamed=True)
        else:
            mailbox.commit(batch.lease, [batch.turns[0].turn_id], limit=1, lease_seconds=30)
        names |= keys_in(redis)
    for subject in (first, second):
        names = {name.replace(subject.key, "SUBJECT").replace("{t}", "{TENANT}") for name in names}
    return names


def test_the_page_of_redis_keys_names_what_a_mailbox_writes_and_nothing_else() -> None:
    page = DOCS / "reference" / "redis-keys.md"
    told = {row[0].strip("`") for row in rows(section(page, "## Mailboxes (`stores/mailbox/mailbox.py`)"))}
    assert told == keys_that_a_mailbox_writes()


def test_the_page_of_redis_keys_names_the_stream_of_events() -> None:
    subject = Subject(tenant_id="t", subject_id="a")
    told = [
        row[0].strip("`")
        for row in rows(section(DOCS / "reference" / "redis-keys.md", "## Events (`memory/events.py`)"))
    ]
    assert told == [stream_key(subject).replace(subject.key, "SUBJECT")]


def test_the_page_of_tables_has_every_table_with_its_columns() -> None:
    page = DOCS / "reference" / "catalog-tables.md"
    told = {heading.strip("`") for heading in re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE)}
    assert told == set(metadata.tables)
    for name, table in metadata.tables.items():
        columns = [column for row in rows(section(page, f"## `{name}`")) for column in _CODE.findall(row[0])]
        assert sorted(columns) == sorted(column.name for column in table.columns), name


def test_the_page_of_events_has_every_event() -> None:
    text = (DOCS / "reference" / "events.md").read_text()
    assert {name for name in EventName if f"`{name.value}`" in text} == set(EventName)


def test_the_page_of_the_contract_has_every_field_of_a_turn() -> None:
    page = DOCS / "reference" / "queue-contract.md"
    told = {row[0].strip("`"): row[2] == "yes" for row in rows(section(page, "## The turn")) if len(row) == 4}
    assert told == {name: info.is_required() for name, info in Turn.model_fields.items()}
    assert f"{MAX_TURN_BYTES:,} bytes" in page.read_text()
    assert f"| `schema_version` | integer | no, `{SCHEMA_VERSION}` |" in page.read_text()


@pytest.mark.parametrize(
    "name", [INGEST_TURN, DRAIN_MAILBOX, DEAD_LETTER, INGEST_QUEUE, NIGHTLY_QUEUE, DEAD_LETTER_QUEUE]
)
def test_the_page_of_the_contract_names_every_queue_and_task(name: str) -> None:
    assert name in (DOCS / "reference" / "queue-contract.md").read_text()
