"""The fleet on one screen: `status`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from interfaces.cli.arguments import JsonOption
from interfaces.cli.output import console, print_json
from interfaces.fleet_checks import advice_on, open_circuits
from interfaces.fleet_report import FleetReport, fleet_report
from schema.settings import load_settings

_UNKNOWN = "unknown"


def status(as_json: JsonOption = False) -> None:
    """Show how the fleet is, within about 5 seconds: what waits, who works, what became of turns, what to do.

    The exit code is 0 unless the broker, the catalog or the index does not answer; then it is 1.
    """
    report, failed = fleet_report(load_settings())
    advice = advice_on(report)
    if as_json:
        print_json({**asdict(report), "advice": advice})
    else:
        console.print(_table(report))
        for line in advice:
            console.print(Text(f"! {line}", style="yellow"), soft_wrap=True)
    if failed:
        raise failed


def _table(report: FleetReport) -> Table:
    table = Table.grid(padding=(0, 3))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    table.add_row("broker", f"{report.broker}{'' if report.broker_answers else ': does not answer'}")
    table.add_row("queues", _counts(report.queues))
    table.add_row("waiting", _waiting(report))
    for row, line in enumerate(_workers(report)):
        table.add_row("" if row else "workers", line)
    table.add_row("beat", {None: _UNKNOWN, True: "leads", False: "none leads"}[report.beat_leads])
    table.add_row("last hour", _last_hour(report))
    table.add_row("turns in all", _counts(report.turns))
    table.add_row("memories", _counts(report.memories))
    table.add_row("reviews", _of(report.open_reviews, "open"))
    table.add_row("index", _behind(report))
    table.add_row("events", _of(report.waiting_events, "not announced yet"))
    for row, line in enumerate(_dead_letters(report)):
        table.add_row("" if row else "dead letters", line)
    for row, erasure in enumerate(report.erasures_going_on or ()):
        whose = f"of {erasure['subject_id']} (tenant {erasure['tenant_id']})"
        table.add_row("" if row else "erasures", Text(f"{whose} goes on since {erasure['since']}"))
    return table


def _waiting(report: FleetReport) -> str:
    if report.pending_turns is None:
        return _UNKNOWN
    if not report.pending_turns:
        return "nothing"
    in_line = f", {report.subjects_in_line} of them in line" if report.subjects_in_line else ""
    return (
        f"{report.pending_turns} turns of {report.subjects_with_pending_turns} users{in_line}, "
        f"the oldest for {_duration(report.oldest_pending_seconds)}"
    )


def _workers(report: FleetReport) -> list[str]:
    if report.workers is None:
        return [_UNKNOWN]
    return [_worker(worker) for worker in report.workers] or ["none answers"]


def _worker(worker: dict[str, Any]) -> str:
    if "slots" not in worker:
        return f"{worker['name']}: another version, does not say"
    text = f"{worker['name']}: {worker['busy']} of {worker['slots']} slots busy"
    if worker["oldest_seconds"]:
        text += f", the oldest turns in hand for {_duration(worker['oldest_seconds'])}"
    shut = [f"{part} {state.replace('_', ' ')}" for part, state in open_circuits(worker).items()]
    return text + (f"; circuits: {', '.join(shut)}" if shut else "")


def _last_hour(report: FleetReport) -> str:
    if report.last_hour is None:
        return _UNKNOWN
    if report.last_hour["lag_p50_seconds"] is None:
        return "no turns"
    p50, p95 = (_duration(report.last_hour[f"lag_{name}_seconds"]) for name in ("p50", "p95"))
    return f"{_counts(report.last_hour['turns'])}; remembered after {p50} (p50), {p95} (p95)"


def _behind(report: FleetReport) -> str:
    if report.waiting_for_the_index is None:
        return _UNKNOWN
    indexed = _of(report.indexed, "memories searchable")
    if not report.waiting_for_the_index:
        return f"{indexed}, nothing waits"
    waiting = f"{report.waiting_for_the_index} wait, the oldest for {_duration(report.oldest_index_job_seconds)}"
    return f"{indexed}, {waiting}"


def _dead_letters(report: FleetReport) -> list[str]:
    if report.dead_letters is None:
        return [_UNKNOWN]
    if not report.dead_letters["count"]:
        return ["none"]
    last = [
        f"{letter['at']}  {letter['turn_id'] or 'no turn id'}: {letter['reason']}"
        for letter in report.dead_letters["last"]
    ]
    return [f"{report.dead_letters['count']}, the last of them:", *last]


def _counts(counts: dict[str, int] | None) -> str:
    if counts is None:
        return _UNKNOWN
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _of(count: int | None, noun: str) -> str:
    return _UNKNOWN if count is None else f"{count} {noun}"


def _duration(seconds: float | None) -> str:
    """Return a length of time as a person says it."""
    if seconds is None:
        return _UNKNOWN
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
