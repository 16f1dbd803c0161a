"""What compose and the image promise, as far as it can be told without an engine."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from redbeat.schedulers import RedBeatConfig

from schema.settings import Settings, variable_of
from tests.commands import all_commands
from tests.supply_chain import version_of_next_release

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
FLEET = ("worker", "beat")
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
POSTGRES_DOCKERFILE = (ROOT / "deploy" / "postgres" / "Dockerfile").read_text()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())

_PINNED = re.compile(r"[^:@]+:v?\d+\.\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?")
_VARIABLE = re.compile(r"\$\{([A-Z_]+)")


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile with their arguments, lines joined, comments left out."""
    lines = [line for line in dockerfile.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [(name.upper(), rest.strip()) for name, _, rest in (line.partition(" ") for line in whole.splitlines())]


def stages(dockerfile: str) -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    for name, rest in instructions(dockerfile):
        if name == "FROM":
            found.append([])
        if found:
            found[-1].append((name, rest))
    return found


STAGES = stages(DOCKERFILE)
LAST = STAGES[-1]


def arguments(name: str) -> list[str]:
    """The defaults of a build's argument."""
    given = [rest.partition("=") for stage in STAGES for instruction, rest in stage if instruction == "ARG"]
    return [default for argument, _, default in given if argument == name]


def only(name: str) -> str:
    [value] = [rest for instruction, rest in LAST if instruction == name]
    return value


def copied(stage: list[tuple[str, str]]) -> list[str]:
    """What a stage copies out of the build's context."""
    copies = [shlex.split(rest) for name, rest in stage if name == "COPY" and "--from" not in rest]
    return [source for words in copies for source in [w for w in words if not w.startswith("--")][:-1]]


def seconds(duration: str) -> int:
    assert duration.endswith("s"), duration
    return int(duration.removesuffix("s"))


# -- compose ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_checked_for_health(name: str) -> None:
    # A service of our own image without a check of its own has the image's, which is the worker's.
    assert "healthcheck" in SERVICES[name] or name == "worker"


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_says_how_it_is_restarted_and_how_long_it_may_take_to_stop(name: str) -> None:
    assert SERVICES[name]["restart"] == "unless-stopped"
    assert seconds(SERVICES[name]["stop_grace_period"]) >= 10


@pytest.mark.parametrize("name", SERVICES)
def test_every_image_is_pinned_to_a_version(name: str) -> None:
    assert _PINNED.fullmatch(SERVICES[name]["image"])


@pytest.mark.parametrize(
    ("image", "pinned"),
    [
        ("redis", False),
        ("redis:latest", False),
        ("redis:9", False),
        ("valkey/valkey:9.1.1-alpine", True),
        ("valkey/valkey:9.1.1-alpine@sha256:" + "0" * 64, True),
        ("valkey/valkey:9.1.1-alpine@sha256:abc", False),
    ],
)
def test_an_image_without_a_version_is_refused_and_one_with_a_digest_too_is_not(image: str, pinned: bool) -> None:
    assert bool(_PINNED.fullmatch(image)) == pinned


def test_every_image_of_others_has_a_digest_but_for_the_one_that_nobody_has_looked_up() -> None:
    dockerfiles = [DOCKERFILE, POSTGRES_DOCKERFILE]
    bases = [rest.split()[0] for text in dockerfiles for name, rest in instructions(text) if name == "FROM"]
    images = {one["image"] for one in SERVICES.values() if "build" not in one} | {base for base in bases if ":" in base}
    without = {image.partition(":")[0] for image in images if "@sha256:" not in image}
    assert without == {"semitechnologies/weaviate"}


def test_compose_says_nothing_that_its_schema_does_not_know() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named" in checked.stderr:
        pytest.skip("check-jsonschema is in requirements-dev.lock: `make install` brings it")
    assert checked.returncode == 0, checked.stdout


def test_the_image_of_the_fleet_carries_the_version_of_the_next_release() -> None:
    assert SERVICES["worker"]["image"] == f"afterturn:{version_of_next_release()}"


def test_the_client_for_node_has_the_version_of_the_next_release() -> None:
    package = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text())
    assert package["version"] == version_of_next_release()


def test_the_fleet_is_built_from_the_dockerfile() -> None:
    assert SERVICES["worker"]["build"] == {"context": ".", "dockerfile": "deploy/Dockerfile"}
    assert {SERVICES[name]["image"] for name in (*FLEET, "flower")} == {SERVICES["worker"]["image"]}


@pytest.mark.parametrize("name", FLEET)
def test_the_fleet_runs_commands_that_exist(name: str) -> None:
    assert SERVICES[name]["command"][0] in all_commands().commands


def test_what_pages_say_to_run_in_a_container_is_run_in_one_that_there_is() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "deploy" / "README.md", ROOT / "docker-compose.yml"]
    named = set(re.findall(r"docker compose exec (\S+) afterturn", "".join(page.read_text() for page in pages)))
    assert {"service"} <= named <= SERVICES.keys()


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_waits_for_the_health_of_what_it_needs(name: str) -> None:
    for needed, how in SERVICES[name].get("depends_on", {}).items():
        assert how["condition"] == "service_healthy"
        assert "healthcheck" in SERVICES[needed]


def test_the_volumes_that_are_declared_are_those_that_are_used() -> None:
    mounts = {mount.partition(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])}
    files = {mount for mount in mounts if mount.startswith("./")}
    assert mounts - files == set(COMPOSE["volumes"])
    assert not [file for file in files if not (ROOT / file).exists()]


def test_the_catalog_and_the_queues_outlive_their_containers() -> None:
    assert SERVICES["worker"]["environment"]["AFTERTURN_DATA_DIR"] in SERVICES["worker"]["volumes"][0]
    assert SERVICES["redis"]["volumes"] == ["redis:/data"]
    assert "--appendonly yes" in " ".join(SERVICES["redis"]["command"])
    assert "--maxmemory-policy noeviction" in " ".join(SERVICES["redis"]["command"])


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_listens_beyond_this_host(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name].get("ports", []))


@pytest.mark.parametrize("name", SERVICES)
def test_no_secret_is_written_down_but_a_marked_default(name: str) -> None:
    for variable, value in SERVICES[name].get("environment", {}).items():
        if re.search(r"PASSWORD|SECRET|TOKEN|AUTH(?!ENTICATION_ANONYMOUS)", variable):
            assert value is None or value.startswith("${"), variable
            assert value is None or value.endswith(":-development-only}"), variable


@pytest.mark.parametrize("name", SERVICES)
def test_every_setting_that_compose_gives_is_one(name: str) -> None:
    known = {variable_of(field) for field in Settings.model_fields}
    given = {variable for variable in SERVICES[name].get("environment", {}) if variable.startswith("AFTERTURN_")}
    assert given <= known


def test_composes_own_variables_do_not_look_like_settings() -> None:
    own = set(_VARIABLE.findall((ROOT / "docker-compose.yml").read_text()))
    assert own
    # The command refuses what begins like a setting and is none, also where it is exported for compose.
    assert not [variable for variable in own if variable.startswith("AFTERTURN_")]


def test_the_worker_ends_by_itself_before_it_is_killed() -> None:
    grace = seconds(SERVICES["worker"]["stop_grace_period"])
    assert grace >= Settings.model_fields["shutdown_seconds"].get_default() + 10


def test_the_worker_may_take_longer_to_stop_than_a_lease_lasts() -> None:
    assert seconds(SERVICES["worker"]["stop_grace_period"]) > Settings.model_fields["lease_seconds"].get_default()


def test_beat_is_checked_by_the_lock_that_it_holds() -> None:
    from worker.app import app

    with pytest.warns(DeprecationWarning):
        lock = RedBeatConfig(app).lock_key
    assert f'exists("{lock}")' in SERVICES["beat"]["healthcheck"]["test"][-1]


def test_what_the_fleet_does_not_need_starts_only_when_asked_for() -> None:
    profiles: dict[str, set[str]] = {}
    for name, service in SERVICES.items():
        for profile in service.get("profiles", ["default"]):
            profiles.setdefault(profile, set()).add(name)
    assert profiles == {
        "default": {"redis", "worker", "beat", "service", "flower"},
        "postgres": {"postgres"},
        "qdrant": {"qdrant"},
        "weaviate": {"weaviate"},
        "observability": {"prometheus", "grafana", "collector"},
    }
    needed = {needed for service in SERVICES.values() for needed in service.get("depends_on", {})}
    assert needed <= profiles["default"]


def test_prometheus_asks_where_metrics_are_shown() -> None:
    scraped = yaml.safe_load((ROOT / "deploy" / "observability" / "prometheus.yaml").read_text())["scrape_configs"]
    asked = {name: str(dns["port"]) for job in scraped for dns in job["dns_sd_configs"] for name in dns["names"]}
    assert asked == {
        "worker": SERVICES["worker"]["environment"]["AFTERTURN_METRICS_PORT"],
        "service": SERVICES["service"]["environment"]["AFTERTURN_HTTP_METRICS_PORT"],
    }


def test_the_image_of_postgres_adds_age_to_the_very_image_that_runs() -> None:
    from_images = re.findall(r"^FROM (\S+)", POSTGRES_DOCKERFILE, re.MULTILINE)
    assert len(set(from_images)) == 1
    assert _PINNED.fullmatch(from_images[0])


def test_what_the_image_of_postgres_compiles_is_named_by_its_commit() -> None:
    [(variable, commit)] = [rest.split("=") for name, rest in instructions(POSTGRES_DOCKERFILE) if name == "ARG"]
    assert re.fullmatch(r"[0-9a-f]{40}", commit)
    [build] = [rest for name, rest in instructions(POSTGRES_DOCKERFILE) if name == "RUN"]
    assert f'https://github.com/apache/age.git "${variable}"' in build


# -- the image ----------------------------------------------------------------------------------------------------


def test_the_image_is_built_in_stages_from_one_pinned_base() -> None:
    bases = [stage[0][1].split() for stage in STAGES]
    names = {words[-1] for words in bases}
    outside = [words[0] for words in bases if words[0] not in names]
    assert len(STAGES) > 1
    assert len(outside) == 1
    assert _PINNED.fullmatch(outside[0])


def test_the_image_does_not_run_as_root() -> None:
    user, _, group = only("USER").partition(":")
    assert int(user) > 0
    assert int(group) > 0
    # As a number, so that Kubernetes can tell that it is not root.
    assert [name for name, _ in LAST].index("USER") < [name for name, _ in LAST].index("ENTRYPOINT")


def test_the_image_checks_its_health() -> None:
    _, _, test = only("HEALTHCHECK").partition("CMD ")
    assert "inspect ping" in " ".join(json.loads(test))


def test_the_image_starts_a_worker_of_the_command() -> None:
    assert json.loads(only("ENTRYPOINT")) == ["afterturn"]
    assert json.loads(only("CMD"))[0] in all_commands().commands


def test_the_image_copies_what_exists_and_the_build_may_see() -> None:
    visible = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    sources = [source for stage in STAGES for source in copied(stage)]
    assert sources
    assert not [source for source in sources if not (ROOT / source).exists()]
    assert set(sources) == visible


def test_the_image_holds_every_room_of_the_house() -> None:
    assert set(copied(LAST)) == set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])


def test_the_image_installs_what_is_locked_by_hash_and_nothing_else() -> None:
    installs = [rest for stage in STAGES for name, rest in stage if name == "RUN" and "pip install" in rest]
    assert len(installs) == 1
    assert "--require-hashes" in installs[0]
    assert "-r requirements.lock" in installs[0]


def test_the_image_knows_its_version_with_no_package_of_ours_installed() -> None:
    [version] = arguments("VERSION")
    assert version == version_of_next_release()
    assert "afterturn-$VERSION.dist-info" in DOCKERFILE


def test_the_image_copies_a_postgres_by_programs_of_the_version_that_compose_runs() -> None:
    [client] = arguments("POSTGRES_CLIENT")
    [server, _] = re.findall(r"^FROM pgvector/pgvector:[\d.]+-pg(\d+)@", POSTGRES_DOCKERFILE, re.MULTILINE)
    assert client == server
    [installed] = [rest for name, rest in LAST if name == "RUN" and "apt-get install" in rest]
    assert '"postgresql-client-$POSTGRES_CLIENT"' in installed
    assert "signed-by=" in installed


def test_the_image_can_send_traces() -> None:
    assert "opentelemetry-exporter-otlp-proto-http==" in (ROOT / "requirements.lock").read_text()


def test_the_image_sends_nothing_home() -> None:
    assert "ORT_DISABLE_TELEMETRY=1" in only("ENV")


def test_a_worker_ends_in_order_before_the_kernel_would_kill_it() -> None:
    for name in ("worker", "beat", "service"):
        assert SERVICES[name]["mem_limit"].endswith("m")
    bound = int(SERVICES["worker"]["environment"]["AFTERTURN_WORKER_MEMORY_MB"])
    assert bound * 1.25 <= int(SERVICES["worker"]["mem_limit"].removesuffix("m"))
