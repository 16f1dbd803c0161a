"""What is counted is what the page says, and what the dashboard and the alerts ask for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from gotpl import Environment
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric

import memory.metrics
import producers.counting
import worker.gauges
from interfaces.fleet_checks import BEHIND_SECONDS, LATE_SECONDS, MANY_EVENTS
from memory.spending import Purpose
from schema import DecisionAction, Verdict
from stores.breaker import State
from stores.catalog import Backlog, Outcome
from stores.mailbox import Depths
from stores.queue import QUEUES
from worker.scrape import FleetCollector

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "metrics.md").read_text()
DASHBOARDS: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "deploy" / "grafana").glob("*.json"))
}
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load((ROOT / "deploy" / "alerts.yaml").read_text())["groups"] for rule in group["rules"]
]
PANELS: list[dict[str, Any]] = [
    panel for dashboard in DASHBOARDS.values() for panel in dashboard["panels"] if panel["type"] != "row"
]
EXPRESSIONS = [rule["expr"] for rule in RULES] + [target["expr"] for panel in PANELS for target in panel["targets"]]

_ROW = re.compile(r"^\| `(afterturn_\w+)` \| (\w+) \|([^|]*)\| (.+) \|$", re.MULTILINE)
_NAME = re.compile(r"\bafterturn_\w+")
_BY = re.compile(r"\bby \(([^)]*)\)")
_SELECTED = re.compile(r"(afterturn_\w+)\{(\w+)")
GIVEN_BY_PROMETHEUS = {"le", "instance"}


class _Nothing:
    """Stands where a store is: describing must not ask it."""

    def backlog(self) -> Backlog:
        raise AssertionError

    def depths(self, queues: object) -> Depths:
        raise AssertionError

    def exists(self, key: object) -> int:
        raise AssertionError


def shown(metric: Metric) -> tuple[str, str]:
    return (f"{metric.name}_total" if metric.type == "counter" else metric.name), metric.type


def fleet_metrics() -> Iterator[Metric]:
    nothing: Any = _Nothing()
    yield from FleetCollector(nothing, nothing, nothing).describe()


def all_metrics() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Every metric of the house: its type and its labels."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for room in (memory.metrics, producers.counting, worker.gauges):
        for one in vars(room).values():
            if isinstance(one, MetricWrapperBase):
                [metric] = one.describe()
                name, type_ = shown(metric)
                found[name] = (type_, tuple(one._labelnames))
    for metric in fleet_metrics():
        labels = ("queue",) if metric.name == "afterturn_queue_messages" else ()
        found[metric.name] = (metric.type, labels)
    return found


METRICS = all_metrics()


def base(name: str) -> str:
    """A metric by the name of one of its series."""
    stem = re.sub(r"_(bucket|sum|count)$", "", name)
    return stem if METRICS.get(stem, ("",))[0] == "histogram" else name


# -- the page -----------------------------------------------------------------------------------------------------


def test_the_page_has_every_metric_with_its_type_and_labels_and_no_other() -> None:
    page = {name: (type_, tuple(re.findall(r"`(\w+)`", labels))) for name, type_, labels, _ in _ROW.findall(PAGE)}
    assert page == METRICS


NO_METRICS = {"afterturn_client", "afterturn_docs", "afterturn_graph", "afterturn_main"}
"""What is called alike: a package, a label of Prometheus, a graph, a package's entry."""


@pytest.mark.parametrize("page", [*(ROOT / "docs").rglob("*.md"), ROOT / "deploy" / "README.md"], ids=lambda p: p.stem)
def test_every_metric_that_a_page_names_exists(page: Path) -> None:
    named = {name for name in _NAME.findall(page.read_text()) if not name.endswith("_")}
    assert {base(name) for name in named} - set(METRICS) <= NO_METRICS


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("afterturn_turns_total", list(Outcome)),
        ("afterturn_decisions_total", list(DecisionAction)),
        ("afterturn_screenings_total", list(Verdict)),
        ("afterturn_queue_messages", list(QUEUES)),
        ("afterturn_dead_letters_total", list(memory.metrics._DEAD_LETTER_REASONS)),
        ("afterturn_breaker_state", ["embedder", "index", "llm"]),
        ("afterturn_embedding_calls_total", list(get_args(Purpose))),
        ("afterturn_producer_turns_total", [*producers.counting.Accepted, *producers.counting.Outcome]),
    ],
)
def test_the_page_names_every_value_of_a_label(name: str, values: list[str]) -> None:
    [meaning] = [meaning for found, _, _, meaning in _ROW.findall(PAGE) if found == name]
    assert [value for value in values if f"`{value}`" not in meaning] == []


def test_names_follow_the_conventions() -> None:
    for name, (type_, _) in METRICS.items():
        assert re.fullmatch(r"afterturn_[a-z][a-z_]*[a-z]", name)
        assert name.endswith("_total") == (type_ == "counter")
        assert not re.search(r"_(ms|millis|minutes)\b", name)
        assert type_ != "histogram" or name.endswith("_seconds")


def test_no_label_can_name_a_tenant_a_user_a_turn_or_a_memory() -> None:
    known = {
        "outcome",
        "stage",
        "action",
        "verdict",
        "reason",
        "error",
        "part",
        "store",
        "kind",
        "queue",
        "job",
        "asker",
        "quota",
        "useful",
        "scope",
        "method",
        "route",
        "status",
        "version",
    }
    assert {label for _, labels in METRICS.values() for label in labels} <= known


def test_the_version_that_runs_is_shown() -> None:
    [sample] = [sample for metric in memory.metrics.BUILD.collect() for sample in metric.samples]
    assert (sample.labels, sample.value) == ({"version": version("afterturn")}, 1)


def test_what_is_known_beforehand_is_counted_from_zero() -> None:
    def values(counter: MetricWrapperBase, label: str) -> set[str]:
        return {sample.labels[label] for metric in counter.collect() for sample in metric.samples}

    assert set(map(str, Outcome)) <= values(memory.metrics.TURNS, "outcome")
    assert set(map(str, DecisionAction)) <= values(memory.metrics.DECISIONS, "action")
    assert {"broker", "catalog"} <= values(memory.metrics.SCRAPE_ERRORS, "store")


def test_the_states_of_the_breakers_can_be_read_back() -> None:
    memory.metrics.show_breaker("a-part", State.HALF_OPEN)
    assert memory.metrics.breaker_states()["a-part"] is State.HALF_OPEN
    memory.metrics.BREAKER_STATE.remove("a-part")


# -- the dashboard and the alerts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_metric_that_is_asked_for_exists_and_has_the_labels_asked_by(expression: str) -> None:
    names = {base(name) for name in _NAME.findall(expression)}
    assert names
    assert names <= set(METRICS)
    labels = {label for name in names for label in METRICS[name][1]} | GIVEN_BY_PROMETHEUS
    asked = {label.strip() for group in _BY.findall(expression) for label in group.split(",")}
    assert asked <= labels
    for name, label in _SELECTED.findall(expression):
        assert label in METRICS[base(name)][1]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_every_worker_says_of_the_fleet_is_never_added_up(expression: str) -> None:
    of_the_fleet = {metric.name for metric in fleet_metrics()} - {"afterturn_clock_offset_seconds"}
    for name in of_the_fleet & set(_NAME.findall(expression)):
        assert re.search(rf"max( by \(\w+\) )?\({name}", expression)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_programs_are_counted_and_missed_by_what_no_other_program_shows(expression: str, service_page: str) -> None:
    """Where a service showed it too, 0 or not, absent() would never be true and count() would count the service."""
    for name in re.findall(r"\b(?:absent|count)\((afterturn_\w+)", expression):
        assert name in METRICS
        assert name not in service_page


@pytest.fixture(scope="module")
def service_page() -> str:
    """Metrics of a service that has just started, in a process of its own."""
    shows = "import interfaces.http.app, prometheus_client as p; print(p.generate_latest().decode())"
    return subprocess.run([sys.executable, "-c", shows], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_counters_are_asked_for_their_rate_and_brackets_close(expression: str) -> None:
    for name in _NAME.findall(expression):
        if name.endswith(("_total", "_bucket")):
            assert re.search(rf"(rate|increase)\({name}(\{{[^}}]*\}})?\[", expression)
    for opening, closing in ("()", "[]", "{}"):
        assert expression.count(opening) == expression.count(closing)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_every_alert_says_how_bad_it_is_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["annotations"]["summary"]
    assert rule["annotations"]["description"].endswith((".", "?"))


@pytest.mark.parametrize(
    ("metric", "named_from"),
    [
        ("afterturn_oldest_pending_turn_age_seconds", LATE_SECONDS),
        ("afterturn_oldest_turn_in_hand_seconds", LATE_SECONDS),
        ("afterturn_oldest_index_job_age_seconds", BEHIND_SECONDS),
        ("afterturn_outbox_events_waiting", MANY_EVENTS),
    ],
)
def test_nobody_is_woken_by_an_alert_that_status_does_not_name(metric: str, named_from: float) -> None:
    [rule] = [rule for rule in RULES if metric in rule["expr"]]
    assert float(rule["expr"].rpartition("> ")[2]) >= named_from


@pytest.mark.parametrize(
    "name",
    [
        *("afterturn_webhook_lag_seconds", "afterturn_webhook_attempts_total"),
        *("afterturn_document_lag_seconds", "afterturn_documents_total"),
        *("afterturn_http_rate_limit_total", "afterturn_quota_refusals_total", "afterturn_producer_turns_total"),
    ],
)
def test_somebody_is_told_of_what_comes_late_or_is_refused_for_a_limit(name: str) -> None:
    assert [rule["alert"] for rule in RULES if name in map(base, _NAME.findall(rule["expr"]))]


def test_alerts_have_names_of_their_own() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("labels", "before"),
    [({}, ""), ({"afterturn_docs": "https://git.example.com/afterturn"}, "https://git.example.com/afterturn/")],
)
def test_every_alert_leads_to_a_section_that_says_what_to_do_where_the_pages_are(
    labels: dict[str, str], before: str
) -> None:
    page = ROOT / "docs" / "how-to" / "answer-an-alert.md"
    sections = {heading.lower() for heading in re.findall(r"^## (\w+)$", page.read_text(), re.MULTILINE)}
    led_to = {rule["alert"]: expanded(rule["annotations"]["runbook_url"], labels) for rule in RULES}
    assert {alert.lower() for alert in led_to} == sections
    assert led_to == {name: f"{before}{page.relative_to(ROOT)}#{name.lower()}" for name in led_to}


def expanded(annotation: str, labels: dict[str, str]) -> str:
    """An annotation as Prometheus expands it, which puts such a line before each."""
    template = "{{ $externalLabels := .ExternalLabels }}" + annotation
    return str(Environment().from_string(template).render({"ExternalLabels": labels}))


def test_prometheus_of_compose_says_where_the_pages_are() -> None:
    told = yaml.safe_load((ROOT / "deploy" / "observability" / "prometheus.yaml").read_text())["global"]
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["prometheus"]
    assert told["external_labels"] == {"afterturn_docs": "${DOCS_URL}"}
    assert "DOCS_URL" in compose["environment"]


def test_dashboards_are_told_apart() -> None:
    assert len({dashboard["uid"] for dashboard in DASHBOARDS.values()}) == len(DASHBOARDS) == 2


@pytest.mark.parametrize("name", DASHBOARDS)
def test_panels_do_not_lie_upon_each_other(name: str) -> None:
    panels = DASHBOARDS[name]["panels"]

    def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
        at = panel["gridPos"]
        return {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}

    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(max(x for x, _ in cells(panel)) < 24 for panel in panels)
    for one, other in combinations(panels, 2):
        assert not cells(one) & cells(other), (one["title"], other["title"])


def test_every_metric_is_on_a_dashboard() -> None:
    asked = {base(name) for panel in PANELS for target in panel["targets"] for name in _NAME.findall(target["expr"])}
    assert set(METRICS) - asked <= {"afterturn_worker_slots"}


# -- what stands where a store is -----------------------------------------------------------------------------------


def test_describing_the_fleet_asks_no_store() -> None:
    assert {metric.name for metric in fleet_metrics()} >= {"afterturn_pending_turns", "afterturn_index_jobs_waiting"}
