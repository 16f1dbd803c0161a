"""The commands, one by one: what they teach, what they print for people and for programs, and how they refuse."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from interfaces.local.broker import embedded_broker
from memory.erasure.proof import files_with
from producers.spool import Spool
from schema import OpenTopic, Preference, PreferenceName, Status, Subject, Turn
from schema.settings import Settings
from stores.catalog import Changes, open_catalog
from tests.contract.catalogs import a_memory
from tests.e2e.command import Home
from tests.turns import a_turn

COMMANDS = (
    "ingest",
    "say",
    "search",
    "memories",
    "show",
    "topics",
    "forget",
    "run",
    "worker",
    "beat",
    "status",
    "doctor",
    "migrate",
    "settings",
    "reviews",
    "holds",
    "subject",
)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A broker on which nobody works, and an empty catalog."""
    home = Home.at(tmp_path_factory.mktemp("idle"))
    open_catalog(Settings(data_dir=home.data)).close()
    with embedded_broker(home.environment()["AFTERTURN_BROKER_URL"], home.folder / "broker"):
        yield home


@pytest.fixture
def nobody(tmp_path: Path) -> Home:
    """A home in which nothing runs."""
    return Home.at(tmp_path)


def mended_line(stderr: str) -> str:
    """The one line that a failure which the user can mend prints."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    assert lines, "nothing was said"
    assert lines[0].startswith("afterturn: "), stderr
    assert "Traceback" not in stderr
    return stderr


# -- what it teaches --------------------------------------------------------------------------------------------


def test_without_arguments_it_lists_its_commands(nobody: Home) -> None:
    said = nobody.say("--help")
    assert said.returncode == 0
    assert [command for command in COMMANDS if f" {command} " not in said.stdout] == []
    assert nobody.say().stdout.strip() == said.stdout.strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_says_what_it_does_and_explains_every_argument(nobody: Home, command: str) -> None:
    said = nobody.say(command, "--help")
    assert (said.returncode, "Usage" in said.stdout) == (0, True)
    described = [line.strip("│ ") for line in said.stdout.splitlines()]
    sentences = [line for line in described if line.endswith((".", ":")) and line[0].isupper()]
    assert sentences, said.stdout
    options = [line for line in described if line.startswith(("--", "*", "-")) and "--help" not in line]
    assert [line for line in options if len(line.split()) < 4] == []
    assert not nobody.data.exists()


def test_a_command_that_nobody_knows_is_refused_with_the_way_to_help(nobody: Home) -> None:
    said = nobody.say("remember")
    assert (said.returncode, "--help" in said.stderr) == (2, True)


# -- settings ---------------------------------------------------------------------------------------------------


def test_settings_are_listed_with_their_values_for_people_and_for_programs(nobody: Home) -> None:
    table = nobody.say("settings").stdout
    values = nobody.json("settings")
    assert [name for name in values if name not in table] == []
    assert (values["AFTERTURN_DATA_DIR"], values["AFTERTURN_WORKER_SLOTS"]) == (str(nobody.data), 64)
    assert "# AFTERTURN_WORKER_SLOTS=64" in nobody.say("settings", "--example").stdout
    narrow = nobody.spawn("settings", COLUMNS="80").stdout
    assert ("AFTERTURN_WORKER_SLOTS=64\n    " in narrow, "…" in narrow) == (True, False)


@pytest.mark.parametrize(
    ("variable", "value", "command"),
    [
        ("AFTERTURN_WORKER_SLOTS", "many", ("settings",)),
        ("AFTERTURN_WORKER_SLOTS", "0", ("worker",)),
        ("AFTERTURN_INDEX", "paper", ("search", "maya", "cats")),
        ("AFTERTURN_BROKER_URL", "amqp://127.0.0.1", ("run", "--once")),
        ("AFTERTURN_SLOTS", "3", ("beat",)),
        ("SEMANTIC_AUTO_UPDATE", "1.5", ("search", "maya", "cats")),
        ("SEMANTIC_CHECK_LOW", "0.95", ("search", "maya", "cats")),
        ("AFTERTURN_CATALOG_URL", "sqlite:///:memory:", ("memories", "maya")),
        ("AFTERTURN_CATALOG_URL", "no url", ("memories", "maya")),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line_that_names_it(
    nobody: Home, variable: str, value: str, command: tuple[str, ...]
) -> None:
    # What the fleet's processes read once at their import can only be shown by new ones.
    said = (nobody.spawn if command[0] in ("worker", "beat") else nobody.say)(*command, **{variable: value})
    assert variable in mended_line(said.stderr)
    assert said.returncode == 2


def test_a_policy_constant_that_cannot_work_stops_a_run_at_its_start(nobody: Home) -> None:
    said = nobody.say("run", "--once", MEMORY_NEIGHBORS_K="0")
    assert "MEMORY_NEIGHBORS_K" in said.stderr
    assert said.returncode == 2


# -- what cannot be reached -------------------------------------------------------------------------------------


def test_without_a_broker_the_status_says_where_it_looked_and_what_to_do(nobody: Home) -> None:
    said = nobody.say("status")
    line = mended_line(said.stderr)
    assert (said.returncode, f":{nobody.port}/0" in line, "AFTERTURN_BROKER_URL" in line) == (1, True, True)


def test_a_broker_that_does_not_answer_is_named_without_its_password(nobody: Home) -> None:
    said = nobody.say("status", AFTERTURN_BROKER_URL=f"redis://me:hunter2@127.0.0.1:{nobody.port}/0")
    assert said.returncode == 1
    assert "hunter2" not in said.stdout + said.stderr


def test_the_settings_do_not_show_passwords(nobody: Home) -> None:
    urls = {
        "AFTERTURN_BROKER_URL": "redis://me:hunter2@127.0.0.1:6379/0",
        "AFTERTURN_CATALOG_URL": "postgresql+psycopg://me:hunter2@127.0.0.1:5432/afterturn",
    }
    said = [nobody.say("settings", *options, **urls) for options in ((), ("--json",))]
    assert [one.returncode for one in said] == [0, 0]
    assert "hunter2" not in "".join(one.stdout + one.stderr for one in said)


def test_the_status_does_not_show_the_brokers_password(idle: Home) -> None:
    url = f"redis://default:hunter2@127.0.0.1:{idle.port}/0"
    said = [idle.answered("status", *options, AFTERTURN_BROKER_URL=url) for options in ((), ("--json",))]
    assert "hunter2" not in "".join(one.stdout + one.stderr for one in said)


def test_a_folder_that_cannot_be_written_is_named_with_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = Home.at(tmp_path / "file")
    for command in (("run", "--once"), ("memories", "maya"), ("search", "maya", "cats")):
        said = home.say(*command)
        line = mended_line(said.stderr)
        assert said.returncode == 2
        assert ("AFTERTURN_DATA_DIR" in line, str(tmp_path / "file") in line) == (True, True)


def test_a_port_that_another_program_has_is_named_with_a_way_out(nobody: Home) -> None:
    with socket.create_server(("127.0.0.1", nobody.port)):
        said = nobody.say("run", "--once")
    line = mended_line(said.stderr)
    assert (said.returncode, f"port {nobody.port}" in line, "AFTERTURN_BROKER_URL" in line) == (2, True, True)


def test_another_programs_redis_on_the_port_is_left_alone(idle: Home, tmp_path: Path) -> None:
    said = Home(tmp_path, idle.port).say("run", "--once")
    assert (said.returncode, f"port {idle.port}" in mended_line(said.stderr)) == (2, True)
    idle.answered("status")


def test_a_file_that_is_not_there_is_refused_before_anything_starts(nobody: Home) -> None:
    for command in (("run",), ("ingest",)):
        said = nobody.say(*command, "no-such-file.jsonl")
        assert (said.returncode, "no-such-file.jsonl" in said.stderr) == (2, True)
    assert not nobody.data.exists()


# -- with nobody at work ----------------------------------------------------------------------------------------


def test_an_empty_catalog_says_so_to_people_and_an_empty_list_to_programs(idle: Home) -> None:
    for command in (("memories", "nobody"), ("search", "nobody", "cats")):
        assert "nothing is known about nobody" in idle.say(*command).stdout
        assert idle.json(*command) == []


def test_with_nothing_open_it_says_so(idle: Home) -> None:
    assert "nothing is open with nobody" in idle.say("topics", "nobody").stdout
    assert idle.json("topics", "nobody") == []


def test_what_is_open_is_listed_until_it_is_stale(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    anna, now = Subject(tenant_id="default", subject_id="anna"), datetime.now(UTC)
    with closing(open_catalog(Settings(data_dir=home.data))) as catalog:
        for agent, text, age in (("planner", "a trip to Japan", 1), ("coach", "a marathon", 10_000)):
            topic = OpenTopic(agent_id=agent, text=text, turn_id="t")
            catalog.commit(Changes(subject=anna, at=now - timedelta(hours=age), topics={agent: topic}))
    shown = home.say("topics", "anna").stdout
    assert ("planner" in shown, "a trip to Japan" in shown, "marathon" in shown) == (True, True, False)
    assert [(topic["agent_id"], topic["text"]) for topic in home.json("topics", "anna")] == [
        ("planner", "a trip to Japan")
    ]


def test_with_nothing_to_review_it_says_so(idle: Home) -> None:
    assert "nothing waits" in idle.say("reviews", "list").stdout
    assert idle.json("reviews", "list", "--user", "nobody") == []


def test_what_a_user_wants_is_set_and_shown(nobody: Home) -> None:
    assert nobody.json("subject", "block", "maya", " Health ")["blocked_topics"] == ["health"]
    assert nobody.json("subject", "consent", "maya", "withdraw")["consent"] == "withdrawn"
    assert nobody.json("subject", "timezone", "maya", "Europe/Berlin")["time_zone"] == "Europe/Berlin"
    assert "health" in nobody.say("subject", "show", "maya").stdout
    assert nobody.json("subject", "unblock", "maya", "health")["blocked_topics"] == []
    wrong = nobody.say("subject", "timezone", "maya", "Mars")
    assert (wrong.returncode, "Mars" in wrong.stderr, "Europe/Berlin" in wrong.stderr) == (2, True, True)


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("search", "nobody", "  "), "the query is empty"),
        (("graph", "nobody", " "), "name an entity"),
        (("graph", "nobody", " ", "--question"), "the query is empty"),
        (("export", "/no/such/folder/memories.jsonl"), "/no/such/folder"),
        (("worker", "--queues", "memory_dead_letter_queue"), "memory_dead_letter_queue"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(idle: Home, command: tuple[str, ...], named: str) -> None:
    said = idle.say(*command)
    assert (said.returncode, named in said.stderr, "Traceback" in said.stderr) == (2, True, False)


@pytest.mark.parametrize("nobodys", ["", "a\tb", "a" * 201], ids=["empty", "with a tab", "too long"])
@pytest.mark.parametrize(
    "command",
    [
        ("memories", "ID"),
        ("memories", "maya", "--tenant", "ID"),
        ("search", "ID", "cats"),
        ("graph", "ID", "cats"),
        ("topics", "ID"),
        ("subject", "show", "ID"),
        ("export", "--user", "ID"),
        ("reviews", "list", "--user", "ID"),
        ("night", "forget", "--user", "ID"),
        ("forget-user", "ID", "--yes"),
        ("forget-user", "maya", "--turn", "ID", "--yes"),
        ("forget-user", "maya", "--conversation", "ID", "--yes"),
        ("documents", "put", "ID", "mill.txt"),
        ("documents", "put", "maya", "mill.txt", "--author", "ID"),
        ("documents", "list", "ID"),
        ("documents", "list", "--author", "ID"),
        ("documents", "delete", "ID", "mill", "--yes"),
        ("documents", "backfill", "ID"),
    ],
)
def test_an_id_that_can_be_nobodys_stands_for_nobody_and_never_for_all(
    idle: Home, command: tuple[str, ...], nobodys: str
) -> None:
    said = idle.say(*(nobodys if word == "ID" else word for word in command))
    assert (said.returncode, said.stdout, "is no id" in said.stderr) == (2, "", True)


def test_a_broker_that_refuses_the_password_is_told_from_one_that_does_not_answer(idle: Home) -> None:
    said = idle.say("dead-letters", "list", AFTERTURN_BROKER_URL=f"redis://me:hunter2@127.0.0.1:{idle.port}/0")
    line = mended_line(said.stderr)
    assert (said.returncode, "refuses" in line, "no broker" in line, "hunter2" in line) == (2, True, False, False)


@pytest.mark.parametrize("given", ["abcdef12", "ab", "not an id", "00000000-0000-0000-0000-000000000000"])
@pytest.mark.parametrize(
    "command", [("show",), ("forget", "--yes"), ("reviews", "show"), ("reviews", "approve"), ("reviews", "reject")]
)
def test_an_id_that_no_memory_has_is_refused(idle: Home, command: tuple[str, ...], given: str) -> None:
    said = idle.say(*command, given)
    assert (said.returncode, "Traceback" in said.stderr) == (2, False)
    assert given in said.stderr


def test_migrations_run_once_and_say_where_they_stand(nobody: Home) -> None:
    first, second = nobody.json("migrate"), nobody.json("migrate")
    assert first["before"] is None
    assert first["after"] == second["before"] == second["after"]
    assert first["after"] in nobody.say("migrate").stdout


def test_ingesting_reports_bad_lines_and_the_rest_wait_for_a_worker(idle: Home) -> None:
    file = idle.folder / "turns.jsonl"
    good = [json.dumps(a_turn("ingrid", number, f"I have {number} cats.")) for number in range(3)]
    other = json.dumps(a_turn("ingrid", 0, "I have a dog."))
    ahead = json.dumps(a_turn("ingrid", 4, "I have a cow.") | {"occurred_at": "9998-01-01T00:00:00Z"})
    file.write_text("\n".join([good[0], "{broken", good[1], '{"turn_id": "x"}', ahead, good[2], other]))
    # With time for the broker to answer: what the spool has to take on a busy machine counts as enqueued.
    patient = {"AFTERTURN_ENQUEUE_BUDGET_MS": "10000"}
    said = idle.say("ingest", str(file), **patient)
    assert (said.returncode, "3 enqueued" in said.stdout) == (1, True)
    assert [line.split(":")[0] for line in said.stderr.splitlines() if line.startswith("line ")] == [
        "line 2",
        "line 4",
        "line 5",
        "line 7",
    ]
    again = idle.say("ingest", str(file), "--json", **patient)
    report = json.loads(again.stdout)
    counts = (report["enqueued"], report["waiting_already"], report["processed_already"])
    assert (again.returncode, counts) == (1, (0, 3, 0))
    assert [bad["line"] for bad in report["bad_lines"]] == [2, 4, 5, 7]
    status = json.loads(idle.answered("status", "--json").stdout)
    assert (status["workers"], status["subjects_with_pending_turns"]) == ([], 1)
    assert "afterturn worker" in idle.say("status").stdout


def test_a_file_without_bad_lines_is_ingested_with_success(idle: Home) -> None:
    file = idle.folder / "good.jsonl"
    file.write_text(json.dumps(a_turn("gustav", 1, "I have a cat.")) + "\n\n")
    said = idle.say("ingest", str(file))
    assert (said.returncode, "1 enqueued" in said.stdout) == (0, True)


def test_forgetting_a_user_empties_queue_and_spool_and_proves_it_in_every_file(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    broker, data = home.environment()["AFTERTURN_BROKER_URL"], home.data
    spool = Spool(data / "spool", max_turns=10, max_bytes=100_000)
    for user in ("vera", "otto"):
        for number in range(2):
            spool.put(Turn.model_validate(a_turn(user, number, f"{user} keeps {number} walnuts")), 5)
    [rejected, *_] = spool.oldest(10)
    with spool.locked():
        spool.reject(rejected, "another turn of that id")
    spool.close()
    with closing(open_catalog(Settings(data_dir=data))) as catalog:
        for user in ("vera", "otto"):
            whose = Subject(tenant_id="acme", subject_id=user)
            said = Turn.model_validate(a_turn(user, 7, "ok, thanks"))
            memory = a_memory(said.turn_id, whose, city=f"the city of {user}")
            catalog.commit(Changes(subject=whose, at=memory.created_at, created=(memory,), sources=(said,)))
    (data / "worker.log").write_text("a line of ours")
    with embedded_broker(broker, tmp_path / "broker"):
        command = ("forget-user", "vera", "--tenant", "acme", "--yes", "--check-files", str(data))
        [held] = home.json("memories", "vera", "--tenant", "acme")
        assert home.json("holds", "set", held["id"][:8], "--why", "case 17")["held"] == [held["id"]]
        refused = home.say(*command)
        assert (refused.returncode, held["id"] in refused.stderr, "holds lift" in refused.stderr) == (2, True, True)
        assert [one["id"] for one in home.json("holds", "list")] == [held["id"]]
        assert home.json("holds", "lift", held["id"], "--why", "closed", "--by", "dora")["lifted"] == [held["id"]]
        proof = home.json(*command)
        assert (proof["removed"]["spool of this machine"], proof["left"]["spool of this machine"]) == (2, 0)
        assert (proof["clean"], proof["left"]["files"], home.json(*command)["clean"]) == (True, 0, True)
    with closing(Spool(data / "spool", max_turns=10, max_bytes=100_000)) as spool:
        assert ([turn.turn_id for turn in spool.oldest(10)], spool.rejected(10)) == (["otto-0", "otto-1"], [])
    assert files_with(data, ["vera keeps"]) == []
    assert files_with(data, ["otto keeps 1 walnuts"]) != []


def test_a_night_by_hand_says_what_it_would_do_and_why_before_it_does_it(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    anna, long_ago = Subject(tenant_id="default", subject_id="anna"), datetime.now(UTC) - timedelta(days=900)
    with closing(open_catalog(Settings(data_dir=home.data))) as catalog:
        faded = a_memory(subject=anna, created_at=long_ago)
        catalog.commit(Changes(subject=anna, at=long_ago, created=(faded,)))
        with embedded_broker(home.environment()["AFTERTURN_BROKER_URL"], tmp_path / "broker"):
            planned = home.json("night", "forget", "--dry-run")
            assert (planned["counts"], catalog.memories(anna, [faded.id])) == ({"archive": 1}, {faded.id: faded})
            [step] = planned["steps"]
            assert (step["user_id"], step["summary"]) == ("anna", faded.summary)
            assert "not used for 900 days" in step["why"]
            assert home.json("night", "forget", "--user", "anna")["counts"] == {"archive": 1}
            assert catalog.memories(anna, [faded.id])[faded.id].status is Status.ARCHIVED
            tokyo = Preference(name=PreferenceName.TIME_ZONE, value="Asia/Tokyo")
            catalog.commit(Changes(subject=anna, at=long_ago, preferred=(tokyo,)))
            begun = home.json("night", "forget")["runs"]
        runs = home.json("nights")
        assert {run["id"] for run in runs} == set(begun)
        assert {(run["job"], run["zone"], run["finished_at"]) for run in runs} == {
            ("forget", zone, None) for zone in (None, "Asia/Tokyo")
        }
