"""Measure what each page costs the service at 10,000 memories of one subject: its wall and CPU time, and the bytes.

    python -m benchmarks.pages [--memories 10000] [--rounds 30]

The app is called in this process without a network: what is measured is the page. CPU is that of all threads of the
process, the client's too (about 2 ms a page), so it is an upper bound that holds on a busy machine as well.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated, Final

import typer
from fastapi.testclient import TestClient
from rich.console import Console
from rich.table import Table

from interfaces.http.app import create_app
from interfaces.http.pages.sessions import make_link, make_staff_link
from interfaces.local.broker import embedded_broker
from memory.context import open_memory
from schema import Subject
from schema.settings import Settings
from tests.browser.people import know_many, many_id
from tests.conftest import free_port
from worker.logs import configure_logging

MAYA: Final = Subject(tenant_id="acme", subject_id="maya")
_WARM: Final = 3
"""Rounds that are not counted: statements and templates are compiled in them."""


def paths() -> dict[str, str]:
    """Return the pages by their names: lists, searches and one memory, for the person and for staff."""
    memory, whose = f"memories/{many_id(MAYA, 5)}", f"/admin/subjects/{MAYA.subject_id}"
    return {
        "what is known": "/me",
        "older ones by day": "/me?since=2027-01-01&until=2027-12-31",
        "one type": "/me?type=semantic&status=everything",
        "a search by words": "/me?ask=place+number+4711",
        "a question": "/me?ask=Where+has+she+been%3F",
        "one memory": f"/me/{memory}",
        "how it hangs together": "/me/graph",
        "about one name": "/me/graph?about=place+17",
        "through time": "/me/timeline?entity=User&attribute=home_city",
        "what waits": "/me/reviews",
        "wishes": "/me/preferences",
        "how a question ranks": "/try?question=Where+has+she+been%3F",
        "staff: subjects": "/admin",
        "staff: audit": "/admin/audit",
        "staff: what is known": whose,
        "staff: one memory": f"{whose}/{memory}",
        "staff: holds": "/admin/holds",
        "staff: erasures": "/admin/erasures",
        "staff: keys": "/admin/keys",
        "staff: costs": "/admin/costs",
    }


def main(
    memories: Annotated[int, typer.Option(min=1, help="How many memories the subject has.")] = 10_000,
    rounds: Annotated[int, typer.Option(min=5, help="How often each page is asked for.")] = 30,
) -> None:
    """Print p50 and p95 of each page."""
    configure_logging("WARNING")
    table = Table(title=f"Pages at {memories} memories of one subject")
    for column in ("page", "p50 ms", "p95 ms", "CPU p50 ms", "CPU p95 ms", "KB"):
        table.add_column(column, justify="left" if column == "page" else "right")
    with tempfile.TemporaryDirectory() as folder:
        url = f"redis://127.0.0.1:{free_port()}/0"
        with embedded_broker(url, Path(folder) / "broker"):
            settings = Settings(data_dir=Path(folder), broker_url=url)
            context = open_memory(settings)
            know_many(MAYA, memories, context)
            links = (
                f"/me/enter?link={make_link(MAYA.tenant_id, MAYA.subject_id, context.redis)}",
                f"/admin/enter?link={make_staff_link(MAYA.tenant_id, 'bench', None, context.redis)}",
            )
            with TestClient(create_app(settings)) as client:
                for link in links:
                    client.get(link)
                for name, path in paths().items():
                    table.add_row(name, *_measured(client, path, rounds))
            context.close()
    Console().print(table)


def _measured(client: TestClient, path: str, rounds: int) -> list[str]:
    wall, cpu, size = [], [], 0
    for _ in range(_WARM + rounds):
        began, worked = time.perf_counter(), time.process_time()
        answer = client.get(path)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - worked) * 1000)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} answers {answer.status_code}")
        size = len(answer.content)
    percentiles = [_at(times[_WARM:], share) for times in (wall, cpu) for share in (0.5, 0.95)]
    return [*(f"{milliseconds:.1f}" for milliseconds in percentiles), f"{size / 1000:.0f}"]


def _at(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


if __name__ == "__main__":
    typer.run(main)
