"""`afterturn run`: the whole fleet on one machine, fed with a conversation, and what came of it."""

from __future__ import annotations

import shlex
import signal
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from interfaces.cli.knowledge import search_table
from interfaces.cli.output import memory_table, own_command
from interfaces.cli.turns import report_bad_lines
from interfaces.http.listening import require_free_address, require_somebody
from interfaces.http.pages.sessions import link_to_pages
from interfaces.local.broker import answers, embedded_broker
from interfaces.local.data_folder import own_data_folder
from interfaces.local.processes import Supervised, service, worker_and_beat
from interfaces.local.progress import Progress, measure, panel
from interfaces.local.story import TURNS_TOLD, story_table
from interfaces.turn_file import BadLine, read_turns
from memory.embedding import counted
from producers import Accepted, Producer
from recall.retrieve import retrieve
from schema import Subject, Turn
from schema.errors import ConflictingTurn, InvalidTurn, SettingsError
from schema.settings import Settings, load_policy
from stores.catalog import Catalog, open_catalog
from stores.open import open_stores
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis

CONVERSATION = "conversation.jsonl"
_MAYA = Subject(tenant_id="default", subject_id="maya")
_QUESTION = "What can she not eat?"
_SAID = "I started to learn the violin last week."
_QUESTION_FOR_ANYONE = "What matters most to this person?"
_SUBJECTS_SHOWN = 5
_MEMORIES_SHOWN = 30
_REFRESH_SECONDS = 0.25
_WATCHED_PAUSE_SECONDS = 0.5
"""Between two turns of our own conversation, so that whoever opened the page sees each come."""


@dataclass
class _Fed:
    """Turns that went in, and of whom."""

    enqueued: int = 0
    known_already: int = 0
    bad: list[BadLine] = field(default_factory=list)
    subjects: dict[Subject, None] = field(default_factory=dict)
    first: list[Turn] = field(default_factory=list)
    """As many turns as are told of."""


def run(settings: Settings, file: Path | None, *, once: bool, console: Console) -> bool:
    """Start broker, worker and beat, feed them a file of turns (our own conversation if None), and show what is known.

    Stays up until Ctrl-C or SIGTERM unless `once`, and stops all that it started. Answers whether every line of the
    file was a turn.

    Raises:
        DataFolderUnavailable, BrokerUnavailable, ProcessKeepsDying, CatalogUnavailable: something cannot start; the
            message says what to do.
        ProcessKeepsFailing: the same, and it may succeed later with nothing changed.
    """
    load_policy()
    signal.signal(signal.SIGTERM, _interrupt)
    with ExitStack() as stack:
        folder = stack.enter_context(own_data_folder(settings.data_dir))
        stack.enter_context(embedded_broker(settings.broker_url, folder / "broker"))
        catalog = open_catalog(settings)
        stack.callback(catalog.close)
        worker, beat = worker_and_beat(folder)
        served = _service(settings, folder, console)
        processes = (beat, worker, *served)
        for process in processes:
            stack.callback(process.stop)
            process.start()
        console.print(_started(settings, folder, processes))
        fed = _Fed()
        try:
            is_watched = file is None and not once and bool(served)
            fed = _feed(settings, file, catalog, processes, console, is_watched=is_watched)
            _show(settings, fed, catalog, console, ask=file is None)
            console.print(_what_next(fed, stays=not once), soft_wrap=True)
            if not once:
                _stay(settings, fed, processes, console)
        except KeyboardInterrupt:
            console.print("\nstopping: the worker finishes the turns it has in hand")
        return not fed.bad


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _service(settings: Settings, folder: Path, console: Console) -> tuple[Supervised, ...]:
    """Return the HTTP service to start; none where it is not wanted, not installed, its port is taken, or others
    could reach it and nobody has a key."""
    if settings.http_port == 0:
        return ()
    if find_spec("fastapi") is None:
        console.print("no service and no pages: pip install 'afterturn[service]'")
        return ()
    try:
        require_free_address(settings)
        require_somebody(settings)
    except SettingsError as error:
        console.print(f"no service and no pages: {error}", soft_wrap=True)
        return ()
    return (service(folder),)


def _started(settings: Settings, folder: Path, processes: tuple[Supervised, ...]) -> Panel:
    text = Text()
    more = {
        "worker": f"{settings.worker_slots} slots, ",
        "service": f"http://{settings.http_host}:{settings.http_port}/docs, ",
    }
    for name, value in (
        ("broker", f"Valkey at {settings.broker_shown}, append-only file in {folder / 'broker'}"),
        *(
            (process.name, f"process {process.pid}, {more.get(process.name, '')}log in {process.log}")
            for process in processes
        ),
        ("data", f"{folder} (AFTERTURN_DATA_DIR)"),
    ):
        text.append(f"{name:8}", style="dim").append(f"{value}\n")
    text.rstrip()
    return Panel(text, title="afterturn is starting", title_align="left")


def _feed(
    settings: Settings,
    file: Path | None,
    catalog: Catalog,
    processes: tuple[Supervised, ...],
    console: Console,
    *,
    is_watched: bool,
) -> _Fed:
    fed, since = _Fed(), datetime.now(UTC)
    producer, redis = Producer(settings), open_redis(settings)
    mailbox = open_mailbox(settings, redis, create_celery(settings))
    deaths: list[str] = []
    with Live(console=console, refresh_per_second=8, transient=True) as live:

        def refresh() -> Progress:
            deaths.extend(f"the {p.name} died and was started again" for p in processes if p.restart_if_dead())
            progress = measure(fed.enqueued, since, catalog, mailbox)
            live.update(panel(progress, deaths))
            return progress

        _wait_for_worker(settings, processes, live)
        if is_watched:
            _wait_for_service(settings, processes)
            _print_link(settings, _MAYA, "Watch what is remembered of what maya says", console)
        shown = time.monotonic()
        for number, turn in read_turns(file or _conversation()):
            _enqueue(number, turn, producer, fed)
            if is_watched:
                time.sleep(_WATCHED_PAUSE_SECONDS)
            if time.monotonic() - shown > _REFRESH_SECONDS:
                refresh()
                shown = time.monotonic()
        while producer.flush(_REFRESH_SECONDS) + (progress := refresh()).waiting_subjects:
            time.sleep(_REFRESH_SECONDS)
    producer.close()
    redis.close()
    console.print(panel(progress, deaths))
    repeated = fed.enqueued + fed.known_already - progress.processed
    if repeated > 0:
        console.print(f"{repeated} of the turns had been processed before: once is enough")
    report_bad_lines(fed.bad)
    return fed


def _wait_for_worker(settings: Settings, processes: tuple[Supervised, ...], live: Live) -> None:
    control = create_celery(settings).control
    live.update(Panel("the worker loads its models, a few seconds", title="the fleet at work", title_align="left"))
    while not control.ping(timeout=_REFRESH_SECONDS):
        for process in processes:
            process.restart_if_dead()


def _wait_for_service(settings: Settings, processes: tuple[Supervised, ...]) -> None:
    while not answers(settings.http_host, settings.http_port):
        for process in processes:
            process.restart_if_dead()
        time.sleep(_REFRESH_SECONDS)


def _enqueue(number: int, turn: Turn | BadLine, producer: Producer, fed: _Fed) -> None:
    if isinstance(turn, BadLine):
        fed.bad.append(turn)
        return
    try:
        fresh = producer.enqueue(turn) is not Accepted.DONE
    except (ConflictingTurn, InvalidTurn) as error:
        fed.bad.append(BadLine(number, str(error)))
        return
    fed.enqueued += fresh
    fed.known_already += not fresh
    fed.subjects[turn.subject] = None
    if len(fed.first) < TURNS_TOLD:
        fed.first.append(turn)


def _conversation() -> Path:
    return Path(str(files("interfaces.local").joinpath(CONVERSATION)))


def _show(settings: Settings, fed: _Fed, catalog: Catalog, console: Console, *, ask: bool) -> None:
    if fed.first:
        console.print(story_table(fed.first, catalog))
    for subject in list(fed.subjects)[:_SUBJECTS_SHOWN]:
        console.print(memory_table(subject, catalog.list_memories(subject, limit=_MEMORIES_SHOWN)))
    if len(fed.subjects) > _SUBJECTS_SHOWN:
        console.print(f"and {len(fed.subjects) - _SUBJECTS_SHOWN} more users: `afterturn memories USER`")
    if fed.subjects:
        subject = next(iter(fed.subjects))
        question = _QUESTION if ask else _QUESTION_FOR_ANYONE
        stores = open_stores(settings, counted)
        hits = retrieve(None, [subject], question, stores, limit=3, now=datetime.now(UTC))
        stores.close()
        console.print(search_table(f"{question} (user {subject.subject_id})", hits))


def _what_next(fed: _Fed, *, stays: bool) -> Text:
    """Return commands to go on with, for this installation and somebody whom it knows."""
    subject = next(iter(fed.subjects), _MAYA)
    whose = shlex.quote(subject.subject_id) + (
        f" --tenant {shlex.quote(subject.tenant_id)}" if subject.tenant_id != "default" else ""
    )
    commands = [
        f"memories {whose} --all",
        f"why {shlex.quote(fed.first[-1].turn_id)}" if fed.first else "",
        f'context {whose} "{_QUESTION_FOR_ANYONE}"',
    ]
    if stays:
        commands += ["status", f"page-link {whose}", f'say {whose} "{_SAID}"']
    lines = "\n".join(f"  {own_command()} {arguments}" for arguments in commands if arguments)
    begin = "The fleet stays up until Ctrl-C. From another shell" if stays else "Go on"
    return Text(f"\n{begin}, in {Path.cwd()}:\n{lines}\n")


def _print_link(settings: Settings, whose: Subject, pages: str, console: Console) -> None:
    with closing(open_redis(settings)) as redis:
        link = link_to_pages(settings, whose.tenant_id, whose.subject_id, redis)
    console.print(f"\n{pages}, in a browser (the link works once, for five minutes):")
    console.print(f"  {link}", soft_wrap=True)


def _stay(settings: Settings, fed: _Fed, processes: tuple[Supervised, ...], console: Console) -> None:
    if any(process.name == "service" for process in processes):
        whose = next(iter(fed.subjects), _MAYA)
        _print_link(settings, whose, f"What {whose.subject_id} sees of it", console)
        console.print("Leave it open: what is remembered of what is said (`say`, above) appears there.")
    while True:
        time.sleep(1)
        for process in processes:
            if process.restart_if_dead():
                console.print(f"the {process.name} died and was started again (process {process.pid})")
