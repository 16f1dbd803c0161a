"""What the Helm chart makes of its example values, checked against the schemas of Kubernetes and against the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

_NEEDS = "it is in requirements-dev.lock: `make install` brings it"
kubernetes_validate = pytest.importorskip("kubernetes_validate", reason=_NEEDS)
pytest.importorskip("gotpl", reason=_NEEDS)

from schema.settings import Settings, variable_of  # noqa: E402
from stores.queue import INGEST_QUEUE, NIGHTLY_QUEUE  # noqa: E402
from tests.chart import CHART, EXAMPLES, main, plain_files, rendered  # noqa: E402
from tests.commands import all_commands  # noqa: E402
from tests.supply_chain import version_of_next_release  # noqa: E402

ROOT = Path(__file__).parents[2]
KUBERNETES = "1.37"
Manifest = dict[str, Any]


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda path: path.stem)
def values(request: pytest.FixtureRequest) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(request.param.read_text())
    return loaded


@pytest.fixture(scope="module")
def manifests(values: dict[str, Any]) -> list[Manifest]:
    return rendered(values)


def of_kind(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    return {one["metadata"]["name"].removeprefix("afterturn-"): one for one in manifests if one["kind"] == kind}


def pods(manifests: list[Manifest]) -> list[Manifest]:
    return [one["spec"]["template"] for one in manifests if one["kind"] in ("Deployment", "Job")]


def test_every_manifest_is_as_kubernetes_says_with_no_field_that_it_does_not_know(manifests: list[Manifest]) -> None:
    for one in manifests:
        # Those that are not Kubernetes' own have no schema there.
        if one["kind"] not in {"ScaledObject", "PrometheusRule", "PodMonitor"}:
            kubernetes_validate.validate(one, KUBERNETES, strict=True)


def test_nothing_runs_as_root_or_writes_but_to_its_own_folders(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not spec["automountServiceAccountToken"]
        # For a Service called afterturn it would set variables that no setting has.
        assert not spec["enableServiceLinks"]
        assert all("emptyDir" in volume for volume in spec["volumes"])
        for container in spec["containers"]:
            context = container["securityContext"]
            assert (context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"]) == (True, False)
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert "memory" in container["resources"]["limits"]
            for bound in (e for e in container.get("env", ()) if e["name"] == "AFTERTURN_WORKER_MEMORY_MB"):
                assert (
                    0 < int(bound["value"]) * 1.25 <= int(container["resources"]["limits"]["memory"].removesuffix("Mi"))
                )


def test_the_user_is_that_of_the_image(manifests: list[Manifest]) -> None:
    [user] = re.findall(r"^USER (\d+):(?:\d+)$", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE)
    assert {pod["spec"]["securityContext"]["runAsUser"] for pod in pods(manifests)} == {int(user)}


def test_every_container_runs_a_command_that_exists(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        [container] = pod["spec"]["containers"]
        assert container["args"][0] in all_commands().commands


def test_what_pages_say_to_run_in_a_pod_is_run_in_one_that_there_is(values: dict[str, Any]) -> None:
    pages = "".join(path.read_text() for path in (ROOT / "docs" / "how-to").glob("*.md"))
    made = {name for release in ("memory", "afterturn") for name in deployments(rendered(values, release))}
    assert set(re.findall(r"kubectl exec deploy/(\S+)", pages)) <= made


def deployments(manifests: list[Manifest]) -> set[str]:
    return {one["metadata"]["name"] for one in manifests if one["kind"] == "Deployment"}


def test_both_queues_have_a_worker(manifests: list[Manifest]) -> None:
    workers = [one for name, one in of_kind(manifests, "Deployment").items() if name.endswith("worker")]
    queues = [one["spec"]["template"]["spec"]["containers"][0]["args"][2].split(",") for one in workers]
    assert sorted(queue for of_worker in queues for queue in of_worker) == [INGEST_QUEUE, NIGHTLY_QUEUE]


def test_a_worker_has_longer_to_stop_than_a_lease_lasts(manifests: list[Manifest]) -> None:
    for name, one in of_kind(manifests, "Deployment").items():
        if name.endswith("worker"):
            grace = one["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
            assert grace > Settings.model_fields["lease_seconds"].get_default()


def test_a_worker_ends_by_itself_before_it_is_killed(manifests: list[Manifest]) -> None:
    for name, one in of_kind(manifests, "Deployment").items():
        if name.endswith("worker"):
            spec = one["spec"]["template"]["spec"]
            [told] = [e["value"] for e in spec["containers"][0]["env"] if e["name"] == "AFTERTURN_SHUTDOWN_SECONDS"]
            assert int(told) + 10 <= spec["terminationGracePeriodSeconds"]


def test_a_grace_period_in_which_workers_cannot_end_is_refused() -> None:
    values = yaml.safe_load(EXAMPLES[0].read_text())
    with pytest.raises(Exception, match="killed with turns in hand"):
        rendered({**values, "worker": {"terminationGracePeriodSeconds": 50}})


def test_liveness_asks_no_store_and_readiness_does(manifests: list[Manifest]) -> None:
    of_pods = {
        name: one["spec"]["template"]["spec"]["containers"][0] for name, one in of_kind(manifests, "Deployment").items()
    }
    service = of_pods["service"]
    assert service["livenessProbe"]["httpGet"]["path"] == "/livez"
    assert service["readinessProbe"]["httpGet"]["path"] == "/readyz"
    for name, container in of_pods.items():
        assert "exec" not in container.get("livenessProbe", {})
        assert "readinessProbe" in container, name


def test_what_may_be_evicted_is_bounded_for_every_deployment_of_several(manifests: list[Manifest]) -> None:
    budgets = of_kind(manifests, "PodDisruptionBudget")
    for name, one in of_kind(manifests, "Deployment").items():
        if one["spec"].get("replicas", 2) > 1:
            labels = one["spec"]["template"]["metadata"]["labels"].items()
            assert budgets[name]["spec"]["selector"]["matchLabels"].items() <= labels


def test_every_pod_is_behind_a_network_policy(manifests: list[Manifest]) -> None:
    policy = of_kind(manifests, "NetworkPolicy")["fleet"]["spec"]
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    for pod in pods(manifests):
        assert policy["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()


def test_tables_are_migrated_before_the_pods_of_a_version_start(manifests: list[Manifest]) -> None:
    [job] = of_kind(manifests, "Job").values()
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    # It runs before the ConfigMap of its version is there, and reads the same settings.
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert [list(source) for source in container["envFrom"]] == [["secretRef"]]
    given = {variable["name"]: variable["value"] for variable in container["env"]}
    assert given == of_kind(manifests, "ConfigMap")["settings"]["data"]


def test_nothing_stays_behind_when_the_release_is_uninstalled(manifests: list[Manifest]) -> None:
    """Helm takes out what belongs to a release, and a hook does not: only one that deletes itself may be one."""
    for one in manifests:
        annotations = one["metadata"].get("annotations", {})
        if "helm.sh/hook" in annotations:
            assert "hook-succeeded" in annotations["helm.sh/hook-delete-policy"], one["kind"]


def test_the_fleet_scales_on_the_age_of_the_oldest_turn_and_then_on_the_list(
    values: dict[str, Any], manifests: list[Manifest]
) -> None:
    found = of_kind(manifests, "ScaledObject")
    assert bool(found) == values.get("autoscaling", {}).get("enabled", False)
    for one in found.values():
        first, second = (trigger["metadata"]["query"] for trigger in one["spec"]["triggers"])
        assert "afterturn_oldest_pending_turn_age_seconds" in first
        assert f'afterturn_queue_messages{{queue="{INGEST_QUEUE}"}}' in second
        assert one["spec"]["minReplicaCount"] >= 1
        scaled = of_kind(manifests, "Deployment")[one["spec"]["scaleTargetRef"]["name"].removeprefix("afterturn-")]
        # Whoever wrote a number here would set the scale back with every upgrade.
        assert "replicas" not in scaled["spec"]


def test_the_rules_of_alerts_are_those_of_plain_prometheus_and_link_to_where_the_pages_are(
    values: dict[str, Any], manifests: list[Manifest]
) -> None:
    wanted = values.get("alerts", {"enabled": False})
    found = [one for one in manifests if one["kind"] == "PrometheusRule"]
    assert bool(found) == wanted["enabled"]
    plain = yaml.safe_load((ROOT / "deploy" / "alerts.yaml").read_text())
    for one in found:
        assert wanted["labels"].items() <= one["metadata"]["labels"].items()
        for group, expected in zip(one["spec"]["groups"], plain["groups"], strict=True):
            for rule, as_plain in zip(group["rules"], expected["rules"], strict=True):
                where = rule["annotations"].pop("runbook_url")
                assert where == f"{wanted['docsUrl']}/docs/how-to/answer-an-alert.md#{rule['alert'].lower()}"
                assert as_plain["annotations"].pop("runbook_url").endswith(where.removeprefix(wanted["docsUrl"])[1:])
                assert rule == as_plain


def test_where_alerts_are_the_operator_reads_the_metrics_that_they_ask_for(manifests: list[Manifest]) -> None:
    [*rules] = of_kind(manifests, "PrometheusRule").values()
    [*monitors] = of_kind(manifests, "PodMonitor").values()
    assert len(monitors) == len(rules)
    for rule, monitor in zip(rules, monitors, strict=True):
        assert monitor["metadata"]["labels"] == rule["metadata"]["labels"], "the operator selects both by them"
        selected = monitor["spec"]["selector"]["matchLabels"].items()
        [endpoint] = monitor["spec"]["podMetricsEndpoints"]
        scraped = {
            name
            for name, one in of_kind(manifests, "Deployment").items()
            if selected <= one["spec"]["template"]["metadata"]["labels"].items()
            for port in one["spec"]["template"]["spec"]["containers"][0].get("ports", ())
            if port["name"] == endpoint["port"]
        }
        assert scraped == {"worker", "nightly-worker", "service"}


def test_pods_reach_what_the_settings_name_and_webhooks(manifests: list[Manifest]) -> None:
    """443: webhooks and OpenID providers are at https, whatever else an installation uses."""
    egress = of_kind(manifests, "NetworkPolicy")["fleet"]["spec"]["egress"]
    open_ports = {port["port"] for rule in egress for port in rule["ports"]}
    settings = of_kind(manifests, "ConfigMap")["settings"]["data"]
    urls = [urlsplit(value) for value in settings.values() if "://" in value]
    named = {url.port or {"http": 80}.get(url.scheme, 443) for url in urls}
    assert {6379, 5432, 443} | named <= open_ports


def test_the_settings_of_the_examples_can_work(manifests: list[Manifest], monkeypatch: pytest.MonkeyPatch) -> None:
    known = {variable_of(field) for field in Settings.model_fields}
    given = of_kind(manifests, "ConfigMap")["settings"]["data"]
    assert {name for name in given if name.startswith("AFTERTURN_")} <= known
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    # As the Secret has it.
    monkeypatch.setenv("AFTERTURN_CATALOG_URL", "postgresql://afterturn@postgres:5432/afterturn")
    Settings()


def test_plain_manifests_are_what_the_chart_makes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["chart", str(EXAMPLES[0])])
    main()
    assert list(yaml.safe_load_all(capsys.readouterr().out)) == rendered(yaml.safe_load(EXAMPLES[0].read_text()))


def test_the_manifests_for_who_has_no_helm_are_what_the_chart_makes_now() -> None:
    folder = ROOT / "deploy" / "kubernetes"
    made = plain_files(CHART / "examples" / "redundant.yaml")
    said = {path.name: path.read_text() for path in folder.iterdir()}
    again = ".venv/bin/python -m tests.chart deploy/helm/examples/redundant.yaml deploy/kubernetes"
    assert sorted(said) == sorted(made)
    assert [name for name, text in made.items() if said[name] != text] == [], again


def test_who_has_no_helm_gets_a_beat_that_takes_over_and_a_worker_of_the_nights() -> None:
    fleet = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "fleet.yaml").read_text()))
    replicas = {name: one["spec"]["replicas"] for name, one in of_kind(fleet, "Deployment").items()}
    assert replicas["beat"] == 2
    assert {name: count for name, count in replicas.items() if "night" in name} == {"nightly-worker": 1}


def test_settings_are_written_as_the_fleet_reads_them() -> None:
    values = yaml.safe_load(EXAMPLES[0].read_text())
    given = {"AFTERTURN_SPOOL_MAX_BYTES": 1073741824, "AFTERTURN_CATEGORIES": ["Work", "Home"], "AFTERTURN_OTEL": True}
    manifests = rendered({**values, "settings": given})
    [written] = [
        one["data"] for one in manifests if one["kind"] == "ConfigMap" and "settings" in one["metadata"]["name"]
    ]
    assert {name: json.loads(written[name]) for name in given} == given


def test_a_setting_of_the_chart_that_is_taken_out_is_left_to_the_fleet() -> None:
    values = yaml.safe_load(EXAMPLES[0].read_text())
    manifests = rendered({**values, "settings": {"AFTERTURN_ENQUEUE_BUDGET_MS": None}})
    assert "AFTERTURN_ENQUEUE_BUDGET_MS" not in of_kind(manifests, "ConfigMap")["settings"]["data"]


def test_an_annotation_of_pods_is_a_text_whatever_it_looks_like() -> None:
    values = yaml.safe_load(EXAMPLES[0].read_text())
    for pod in pods(rendered({**values, "podAnnotations": {"example.com/restarted": 1, "example.com/inject": False}})):
        given = {name: value for name, value in pod["metadata"]["annotations"].items() if "example.com" in name}
        assert given == {"example.com/restarted": "1", "example.com/inject": "false"}


@pytest.mark.parametrize("index", ["sqlite", None])
def test_an_index_that_each_pod_would_have_to_itself_is_refused(index: str | None) -> None:
    """Taken out, it is that of the fleet, which is SQLite."""
    values = yaml.safe_load(EXAMPLES[0].read_text())
    with pytest.raises(Exception, match="each pod would have an index of its own"):
        rendered({**values, "settings": {"AFTERTURN_INDEX": index}})


def test_a_chart_without_the_name_of_the_secret_says_what_to_give() -> None:
    with pytest.raises(Exception, match="secretName: name the Secret"):
        rendered({})


def test_the_chart_has_the_version_of_the_next_release() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == version_of_next_release()
