"""How the fleet is, what to do next, what its nights did, and what models cost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Response

from interfaces.fleet_checks import advice_on
from interfaces.fleet_report import FleetReport, fleet_report
from interfaces.http.pages.language import gettext
from interfaces.http.pages.problems import PageRoute
from interfaces.http.pages.rendering import page
from interfaces.http.pages.sign_in import Staff
from interfaces.http.service import Opened
from recall.costs import first_day
from stores.catalog.costs import By, Prices

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_NIGHTS: Final = 60
_DAYS: Final = 60


@router.get("/admin/fleet")
def fleet(staff: Staff, service: Opened) -> Response:
    """Show what `afterturn status` does: what waits, who works, and what to do next."""
    report, failure = fleet_report(service.settings)
    _leave_out_others(report, staff.tenant_id)
    return page(
        "admin/fleet.html",
        staff,
        report=report,
        advice=advice_on(report),
        failure=str(failure) if failure else "",
        rows=_rows(report),
    )


@router.get("/admin/nights")
def nights(staff: Staff, service: Opened) -> Response:
    """List the runs of the nightly jobs, latest first."""
    return page("admin/nights.html", staff, runs=service.context.catalog.nights.runs(_NIGHTS))


@router.get("/admin/costs")
def costs(staff: Staff, service: Opened) -> Response:
    """List what models were asked for by day, and what that cost."""
    settings = service.settings
    since = first_day(_DAYS, datetime.now(UTC))
    days = service.context.catalog.costs.added_up(By.DAY, since, tenant_id=staff.tenant_id)
    prices = Prices.of(settings)
    return page("admin/costs.html", staff, days=days, prices=prices, shown=_DAYS)


def _leave_out_others(report: FleetReport, tenant_id: str) -> None:
    """Take out of a report what names subjects or turns of other tenants; what counts the whole fleet stays."""
    if report.erasures_going_on is not None:
        report.erasures_going_on = [
            erasure for erasure in report.erasures_going_on if erasure["tenant_id"] == tenant_id
        ]
    if report.dead_letters is not None:
        report.dead_letters = {"count": report.dead_letters["count"], "last": []}


def _rows(report: FleetReport) -> list[tuple[str, str]]:
    """Return what is told of the whole fleet, each with its name; what nobody could answer is unknown."""
    hour: dict[str, Any] = report.last_hour or {}
    lag = hour.get("lag_p95_seconds")
    letters = report.dead_letters and str(report.dead_letters["count"])
    counted = {
        gettext("Turns that wait"): report.pending_turns,
        gettext("Users whose turns wait"): report.subjects_with_pending_turns,
        gettext("The oldest waits for"): _seconds(report.oldest_pending_seconds),
        gettext("Turns of the last hour"): sum(hour["turns"].values()) if hour else None,
        gettext("Remembered after (p95)"): _seconds(lag) if lag is not None else gettext("no turns") if hour else None,
        gettext("Memories searchable"): report.indexed,
        gettext("Memories that wait for the index"): report.waiting_for_the_index,
        gettext("Events not announced yet"): report.waiting_events,
        gettext("Beat"): None
        if report.beat_leads is None
        else gettext("leads")
        if report.beat_leads
        else gettext("none leads"),
        gettext("Dead letters"): letters,
    }
    return [(name, gettext("unknown") if value is None else str(value)) for name, value in counted.items()]


def _seconds(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
