"""`afterturn run`: the whole fleet on one machine, from nothing to what is known, and all of it stopped again."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.conftest import free_port
from tests.e2e.command import Home, Run, Said, children, is_alive, wait_until
from tests.turns import a_turn

ROOT = Path(__file__).parents[2]
SECRET = "tulip-Harbor-93"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home.at(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def first(home: Home) -> Said:
    """The first run, with our own conversation, to its end."""
    return home.spawn("run", "--once")


@pytest.fixture(scope="module")
def second(home: Home, first: Said) -> Iterator[Run]:
    """The second run, over what the first one left and a turn that lies in the spool; it stays up. Its broker has time
    to answer on a busy machine: what the spool has to take counts as new."""
    assert home.say("say", "ada", "I live in Oslo.").returncode == 1, "no broker is there"
    with home.running(AFTERTURN_ENQUEUE_BUDGET_MS="10000") as run:
        yield run


def counted(home: Home, table: str, column: str) -> set[str]:
    with closing(sqlite3.connect(home.data / "catalog.sqlite3")) as catalog:
        return {row[0] for row in catalog.execute(f"SELECT {column} FROM {table}")}


def test_a_first_run_shows_that_every_decision_occurred(home: Home, first: Said) -> None:
    assert first.returncode == 0, first.stderr
    assert "24 of 24 processed" in first.stdout
    assert counted(home, "ledger", "outcome") == {"kept", "skipped", "refused", "forgotten"}
    assert counted(home, "audit", "action") >= {
        "created",
        "updated",
        "superseded",
        "refused",
        "quarantined",
        "deleted",
    }
    for word in ("kept", "skipped", "refused", "forgotten", "created", "updated", "superseded", "quarantined"):
        assert word in first.stdout, word
    assert "lag" in first.stdout


@pytest.mark.long
def test_a_turn_that_waited_for_the_first_run_is_counted_beside_those_of_the_conversation(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    assert home.say("say", "ada", "I live in Oslo.").returncode == 1, "no broker is there: it lies in the spool"
    said = home.spawn("run", "--once")
    assert said.returncode == 0, said.stderr
    assert "24 of 24 processed, and 1 that waited from before" in said.stdout
    again = home.spawn("run", "--once", AFTERTURN_ENQUEUE_BUDGET_MS="10000")
    assert "0 of 0 processed" in again.stdout
    assert "24 of the turns had been processed before" in again.stdout


def test_a_first_run_shows_what_is_known_and_one_search(first: Said) -> None:
    for user in ("maya", "tom"):
        assert f"What is known about {user}" in first.stdout
    assert "Search:" in first.stdout
    assert ("peanuts" in first.stdout, "Berlin" in first.stdout) == (True, True)


REMEMBERED = {
    "Maya lives in Lisbon.",
    "Maya works as a product designer at Brightside.",
    'Asked "Do you have any pets?", Maya said: "Yes, two cats, Miso and Nori."',
    "Maya is vegetarian and allergic to peanuts.",
    "Maya's sister Ines is getting married in December 2026 in Porto.",
    "Maya really prefers short answers without bullet points.",
    "Maya moved to Berlin on 5 November 2026!",
    "Maya is starting a new job at Fernweh Studio around 20 November 2026.",
    "Maya is feeling really sad, their grandmother passed away on the night of 7 November 2026.",
    "Tom works as a data analyst at Nordbank, so spreadsheets are fine with them.",
    "Tom is trying to save 12,000 euros for a new kitchen by June 2027.",
    "Tom takes blood pressure pills every morning at 7.",
    "Tom went hiking in the Harz with their daughter Lena on 31 October 2026 and it was wonderful.",
    "Tom is trying to save for a new kitchen by June 2027.",
    "Tom's budget for the kitchen is now 15,000 euros.",
    "Tom left Nordbank and joined Kestrel Analytics as a team lead.",
}
"""All that the demonstration leaves: whoever changes how things are told reads it here once more."""


def test_the_demonstration_leaves_exactly_what_its_people_told(home: Home, first: Said) -> None:
    known = {one["summary"]: one["status"] for user in ("maya", "tom") for one in home.json("memories", user, "--all")}
    assert set(known) == REMEMBERED
    assert {summary for summary, status in known.items() if status == "superseded"} == {
        "Maya lives in Lisbon.",
        "Tom works as a data analyst at Nordbank, so spreadsheets are fine with them.",
        "Tom is trying to save 12,000 euros for a new kitchen by June 2027.",
    }


def test_the_readme_shows_what_a_first_run_counts(first: Said) -> None:
    [shown] = re.findall(r"```text\n(turns in.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    printed = " ".join(first.stdout.replace("│", " ").split())
    assert " ".join(shown.partition("memories")[0].split()) in printed
    assert "memories " + " ".join(shown.partition("memories")[2].split()) in printed


def test_a_first_run_tells_what_became_of_every_turn_in_the_order_of_time(first: Said) -> None:
    story = first.stdout.partition("What was said, and what became of it")[2].partition("What is known about")[0]
    told = [
        "Good morning!",
        "remembered  Maya lives in Lisbon.",
        "refused     password",
        "held back",
        "changed     Maya",
    ]
    places = [story.find(text) for text in told]
    assert -1 not in places
    assert places == sorted(places)


def test_a_first_run_says_where_words_are_of_a_later_turn_and_tells_nothing_twice(first: Said) -> None:
    story = first.stdout.partition("What was said, and what became of it")[2].partition("What is known about")[0]
    words = " ".join(cell.strip() for line in story.splitlines() for cell in line.split("│")[3:4])
    assert (
        "spreadsheets are fine with them. (It was said again in turn tom-07, and reads as it does since then.)" in words
    )
    assert words.count("known       Maya is vegetarian") == 1


def test_a_run_ends_with_commands_that_work_as_they_are_printed(home: Home, first: Said) -> None:
    commands = [line.strip() for line in first.stdout.partition("Go on, in ")[2].splitlines()[1:] if line.strip()]
    assert len(commands) >= 3
    said = subprocess.run(commands[0], shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, (commands[0], said.stderr)
    begin = commands[0].partition(" memories ")[0]
    for command in commands[1:]:
        assert command.startswith(f"{begin} ")
        # As a shell would, but in this process.
        again = home.say(*shlex.split(command.removeprefix(begin)))
        assert again.returncode == 0, (command, again.stderr)


def test_why_tells_step_by_step_what_became_of_a_turn(home: Home, first: Said) -> None:
    moved = home.json("why", "maya-09")
    [step] = moved["steps"]
    [lisbon] = [one["id"] for one in home.json("memories", "maya", "--all") if "Lisbon" in one["summary"]]
    assert (moved["outcome"], step["action"], step["instead_of"]) == ("kept", "created", [lisbon])
    assert "Berlin" in step["summary"]
    secret = home.say("why", "tom-04")
    assert ("password" in secret.stdout, SECRET in secret.stdout) == (True, False)
    assert "nothing in it worth remembering" in home.say("why", "maya-06").stdout


def test_why_says_where_it_looked_for_a_turn_that_is_nowhere(home: Home, first: Said) -> None:
    said = home.say("why", "nobody-01", "--user", "maya")
    assert (said.returncode, "nobody-01" in said.stderr, "broker" in said.stderr) == (2, True, True)


def test_what_was_refused_or_forgotten_is_neither_shown_nor_known(home: Home, first: Said) -> None:
    shown = first.stdout + json.dumps([home.json("memories", user, "--all") for user in ("maya", "tom")])
    assert [word for word in (SECRET, "maya.t@", "refunds", "Karin") if word in shown] == []


def test_a_run_that_ended_leaves_no_process_behind(home: Home, first: Said) -> None:
    said = home.say("status")
    assert (said.returncode, "no broker answers" in said.stderr) == (1, True)
    examined = home.say("doctor")
    broken = [line for line in examined.stdout.splitlines() if line.startswith(("✗", "  "))]
    assert (examined.returncode, [line[:8] for line in broken]) == (1, ["✗ broker", " " * 8])
    assert ("-> start one" in broken[1], "AFTERTURN_BROKER_URL" in broken[1]) == (True, True)


def test_a_stopped_run_is_backed_up_and_restored_elsewhere_without_a_redis(
    home: Home, first: Said, tmp_path: Path
) -> None:
    copied = home.say("backup", str(tmp_path / "backup"), "--with-broker")
    assert copied.returncode == 0, copied.stderr
    elsewhere = Home.at(tmp_path / "elsewhere")
    restored = elsewhere.say("restore-backup", str(tmp_path / "backup"), "--with-broker")
    assert restored.returncode == 0, restored.stderr
    assert counted(elsewhere, "memories", "id") == counted(home, "memories", "id")
    assert elsewhere.json("search", "maya", "what can she not eat?")


@pytest.mark.parametrize("how", [pytest.param("run", marks=pytest.mark.long), "search"])
def test_an_index_that_was_not_built_is_neither_worked_with_nor_searched(home: Home, first: Said, how: str) -> None:
    other = {"AFTERTURN_INDEX_NAME": "next"}
    said = home.spawn("run", **other) if how == "run" else home.say(how, "maya", "what can she not eat?", **other)
    assert said.returncode == 2, said.stdout
    assert ("sqlite:next" in said.stderr, "afterturn reindex" in said.stderr, "Traceback" in said.stderr) == (
        True,
        True,
        False,
    )


# -- a second run -----------------------------------------------------------------------------------------------


def test_a_second_run_finds_the_memories_and_processes_nothing_anew_but_what_waited(home: Home, second: Run) -> None:
    said = second.said()
    assert "0 of 0 processed, and 1 that waited from before" in said
    assert "24 of the turns had been processed before" in said
    assert ("What is known about maya" in said, "peanuts" in said) == (True, True)


def test_the_status_of_a_fleet_at_work(home: Home, second: Run) -> None:
    status = json.loads(home.answered("status", "--json").stdout)
    assert len(status["workers"]) == 1
    assert set(status["queues"].values()) == {0}
    assert status["subjects_with_pending_turns"] == status["waiting_for_the_index"] == 0
    assert sum(status["turns"].values()) == 25
    assert status["indexed"] == sum(status["memories"].values()) > 0
    assert "workers" in home.answered("status").stdout


def test_the_doctor_finds_nothing_to_mend_in_a_fleet_at_work(home: Home, second: Run) -> None:
    told = home.json("doctor")
    findings = {one["part"]: one["mark"] for one in told["findings"]}
    assert told["ok"]
    assert findings.pop("language model") == "skipped"
    assert set(findings.values()) == {"ok"}
    assert {"settings", "data folder", "broker", "embedder", "catalog", "index", "workers", "beat"} <= findings.keys()


def test_a_second_run_on_the_same_data_is_refused_and_names_the_first(home: Home, second: Run) -> None:
    said = home.say("run", "--once")
    assert said.returncode == 2
    assert (f"process {second.process.pid}" in said.stderr, "AFTERTURN_DATA_DIR" in said.stderr) == (True, True)
    assert second.process.poll() is None


def test_what_is_known_is_listed_for_people_and_for_programs(home: Home, second: Run) -> None:
    active = home.json("memories", "maya")
    everything = home.json("memories", "maya", "--all")
    assert {memory["status"] for memory in active} == {"active"}
    assert {memory["status"] for memory in everything} == {"active", "superseded"}
    assert len(home.json("memories", "maya", "--limit", "2")) == 2
    assert home.json("memories", "maya", "--tenant", "other") == []
    table = home.say("memories", "maya").stdout
    assert [memory["id"][:8] for memory in active if memory["id"][:8] not in table] == []


def test_a_search_finds_by_meaning_best_first(home: Home, second: Run) -> None:
    found = home.json("search", "maya", "what can she not eat?")
    assert "peanut" in found[0]["memory"]["summary"]
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    assert len(home.json("search", "maya", "where does she live", "-n", "1")) == 1
    assert "peanut" in home.say("search", "maya", "what can she not eat?").stdout


def test_a_memory_is_shown_with_its_sources_and_all_that_was_done_to_it(home: Home, second: Run) -> None:
    [old] = [m for m in home.json("memories", "maya", "--all") if "Lisbon" in m["summary"]]
    shown = home.json("show", old["id"])
    assert shown["memory"] == old
    assert [turn["turn_id"] for turn in shown["sources"]] == old["source_turn_ids"]
    assert [entry["action"] for entry in shown["audit"]] == ["created", "superseded"]
    page = home.say("show", old["id"][:8]).stdout
    assert [
        word for word in (old["id"], old["superseded_by"], "I live in Lisbon", "superseded") if word not in page
    ] == []


def test_a_backup_is_not_restored_to_the_broker_of_a_run_that_works(home: Home, second: Run, tmp_path: Path) -> None:
    assert home.say("backup", str(tmp_path / "backup")).returncode == 0
    elsewhere = Home(tmp_path / "elsewhere", home.port)
    said = elsewhere.say("restore-backup", str(tmp_path / "backup"))
    assert said.returncode == 2, said.stdout
    assert "a fleet works on the broker" in said.stderr
    assert re.search(r"\S+@\S+, beat\.", said.stderr), "the worker is named"
    assert not elsewhere.data.exists(), "nothing was restored"


def test_turns_ingested_from_another_shell_are_remembered_and_can_be_forgotten(home: Home, second: Run) -> None:
    file = home.folder / "zoe.jsonl"
    file.write_text(
        "\n".join(
            json.dumps(a_turn("zoe", n, said)) for n, said in enumerate(["I live in Oslo.", "I have two horses."])
        )
    )
    zoe = ("zoe", "--tenant", "acme")
    assert home.say("ingest", str(file)).returncode == 0
    wait_until(lambda: len(home.json("memories", *zoe)) == 2, "both turns are remembered")
    # With time for the broker to answer: what the spool has to take on a busy machine counts as enqueued.
    assert home.json("ingest", str(file), AFTERTURN_ENQUEUE_BUDGET_MS="10000")["processed_already"] == 2
    [horses] = [memory for memory in home.json("memories", *zoe) if "horses" in memory["summary"]]
    asked = home.say("forget", horses["id"])
    assert (asked.returncode, len(home.json("memories", *zoe))) == (1, 2)
    forgotten = home.say("forget", horses["id"][:8], "--yes")
    assert (forgotten.returncode, "horses" in forgotten.stdout) == (0, False)
    [left] = home.json("memories", *zoe, "--all")
    assert "Oslo" in left["summary"]
    assert [one["memory"]["id"] for one in home.json("search", *zoe, "horses")] == [left["id"]]
    assert home.say("show", horses["id"]).returncode == 2
    assert home.json("forget", left["id"]) == {"forgotten": left["id"]}


def test_what_is_said_at_the_command_is_remembered(home: Home, second: Run) -> None:
    told = home.say("say", "wim", "I play the violin.")
    [turn] = re.findall(r"afterturn why (\S+) --user wim", told.stdout)
    wait_until(lambda: len(home.json("memories", "wim")) == 1, "it is remembered")
    assert "violin" in home.say("why", turn, "--user", "wim").stdout
    [command] = re.findall(r"(\S+/afterturn) why", told.stdout)
    assert Path(command).exists(), "what it says to type can be typed"


def test_a_killed_worker_is_noticed_and_started_again_and_takes_the_turns(home: Home, second: Run) -> None:
    killed = second.pid_of("interfaces.cli worker")
    os.kill(killed, signal.SIGKILL)
    file = home.folder / "yann.jsonl"
    file.write_text(json.dumps(a_turn("yann", 1, "I live in Paris.")))
    assert home.say("ingest", str(file)).returncode == 0
    second.wait_for("the worker died and was started again")
    assert second.pid_of("interfaces.cli worker") != killed
    wait_until(lambda: len(home.json("memories", "yann", "-t", "acme")) == 1, "the turn is remembered")


def test_a_run_asked_to_stop_stops_every_process_that_it_started(home: Home, second: Run) -> None:
    started = children(second.process.pid)
    assert [part for part in ("worker", "beat", "valkey") if not any(part in line for line in started.values())] == []
    assert second.stop() == 0
    assert [line for pid, line in started.items() if is_alive(pid)] == []
    assert home.say("status").returncode == 1


# -- files ------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_file_with_bad_lines_is_fed_without_them_and_the_exit_code_says_so(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    file = tmp_path / "turns.jsonl"
    too_far_ahead = json.dumps(a_turn("anna", 3, "I moved to Oslo.") | {"occurred_at": "9998-01-01T00:00:00Z"})
    lines = [json.dumps(a_turn("anna", 1, "I live in Lisbon.")), "{broken", "", '{"turn_id": "x"}', too_far_ahead]
    file.write_text("\n".join([*lines, json.dumps(a_turn("anna", 2, "I moved to Berlin."))]))
    said = home.spawn("run", str(file), "--once")
    assert said.returncode == 1
    assert "2 of 2 processed" in said.stdout
    assert [line.split(":")[0] for line in said.stderr.splitlines() if line.startswith("line ")] == [
        "line 2",
        "line 4",
        "line 5",
    ]
    assert ("What is known about anna" in said.stdout, "Berlin" in said.stdout) == (True, True)
    assert len(home.json("memories", "anna", "-t", "acme", "--all")) == 2


@pytest.mark.long
def test_a_run_prints_a_link_to_a_page_on_which_its_conversation_comes_to_be_known(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    running = home.running("/me/enter?link=", AFTERTURN_HTTP_PORT=str(free_port()))
    with running as run, httpx.Client(follow_redirects=True, timeout=30.0) as browser:
        link = re.findall(r"http://\S+/me/enter\?link=\S+", run.said())[0]
        page = browser.get(link)
        assert page.status_code == 200
        [live] = re.findall(r'hx-sse:connect="([^"]+)"', page.text)
        with browser.stream("GET", str(page.url.join(live))) as events:
            assert next(line for line in events.iter_lines() if line == "event: changed")
        assert "processed" not in run.said(), "it is fed while the page is open"
        run.wait_for("stays up until Ctrl-C")
        shown = html.unescape(browser.get(page.url).text)
        assert [one["summary"] for one in home.json("memories", "maya") if one["summary"] not in shown] == []
