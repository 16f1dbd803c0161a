"""Settings: every one documented, and one that cannot work is refused at start by the name of its variable."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from interfaces.cli.configuration import env_example
from schema import Policy, Thresholds
from schema.errors import SettingsError
from schema.settings import PREFIX, Settings, load_policy, load_settings, variable_of

ROOT = Path(__file__).parents[2]
FIELDS = [*Settings.model_fields, *Policy.model_fields]
MINILM_LIKE = Thresholds(
    semantic_auto_update=0.90, semantic_check_low=0.65, episodic_auto_update=0.92, episodic_check_low=0.69
)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable and no `.env` but a test's own."""
    known = {variable_of(field) for field in FIELDS}
    for name in os.environ:
        if name.startswith(PREFIX) or name in known:
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_every_setting_says_what_it_does() -> None:
    assert [name for name, info in Settings.model_fields.items() if not info.description] == []


def test_every_setting_changes_something() -> None:
    rooms = ("policies", "stores", "memory", "producers", "worker", "recall", "interfaces")
    code = "".join(file.read_text() for room in rooms for file in (ROOT / room).rglob("*.py"))
    read = {*re.findall(r"\.([a-z_0-9]+)\b", code), *re.findall(r"[\"']([a-z_0-9]+)[\"']", code)}
    inside = "".join(file.read_text() for file in (ROOT / "schema").glob("*.py"))
    derived = set(re.findall(r"self\.([a-z_0-9]+)\b", inside))

    assert [field for field in FIELDS if field not in read | derived] == []


def test_no_two_settings_have_one_variable() -> None:
    variables = [variable_of(field) for field in FIELDS]
    assert len(set(variables)) == len(variables)


def test_policy_constants_go_by_the_plans_names() -> None:
    names = "SEMANTIC_AUTO_UPDATE EPISODIC_MERGE_WINDOW_HOURS MEMORY_NEIGHBORS_K MEMORY_WRITE_RATE_LIMIT_PER_HOUR"
    assert set(names.split()) <= {variable_of(field) for field in Policy.model_fields}
    assert variable_of("memory_batch_turns") == "MEMORY_BATCH_TURNS"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AFTERTURN_BROKER_URL", "amqp://127.0.0.1"),
        ("AFTERTURN_INDEX", "paper"),
        ("AFTERTURN_EXTRACTOR", "guess"),
        ("AFTERTURN_WORKER_SLOTS", "0"),
        ("AFTERTURN_WORKER_SLOTS", "many"),
        ("AFTERTURN_LEASE_SECONDS", "0.1"),
        ("AFTERTURN_CATEGORIES", "[]"),
        ("AFTERTURN_LOG_LEVEL", "loud"),
        ("MEMORY_BATCH_TURNS", "0"),
        ("AFTERTURN_SOURCE_DAYS", "999999"),
        ("AFTERTURN_MAX_AHEAD_SECONDS", "1e12"),
        ("AFTERTURN_CLOCK_TOLERANCE_SECONDS", "inf"),
        ("AFTERTURN_EVENT_STREAM_LENGTH", "99999999999999999999"),
        ("AFTERTURN_LLM_PRICE_PROMPT", "inf"),
        ("AFTERTURN_OIDC_CLIENT_SECRET", "of nobody"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=variable):
        load_settings()


def test_categories_that_are_no_list_are_refused_by_the_name_of_their_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AFTERTURN_CATEGORIES", "Finance,Other")
    with pytest.raises(SettingsError, match="AFTERTURN_CATEGORIES"):
        load_settings()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SEMANTIC_AUTO_UPDATE", "1.5"),
        ("EPISODIC_CHECK_LOW", "high"),
        ("MEMORY_NEIGHBORS_K", "0"),
        ("IMPORTANCE_MINIMUM", "nan"),
        ("HALF_LIFE_LOW_DAYS", "0"),
        ("HALF_LIFE_HIGH_DAYS", "inf"),
        ("ARCHIVE_KEPT_DAYS", "999999"),
        ("OPEN_TOPIC_HOURS", "99999999"),
    ],
)
def test_a_constant_that_cannot_work_is_refused_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=variable):
        load_policy()


def test_all_wrong_settings_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_WORKER_SLOTS", "0")
    monkeypatch.setenv("AFTERTURN_INDEX", "paper")
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert re.findall(r"^AFTERTURN_\w+", str(refused.value), re.MULTILINE) == [
        "AFTERTURN_INDEX",
        "AFTERTURN_WORKER_SLOTS",
    ]


def test_a_wrong_broker_url_is_refused_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_BROKER_URL", "amqp://me:hunter2@example.org")
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert "hunter2" not in str(refused.value)


def test_a_variable_that_is_no_setting_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_WORKER_SLOT", "8")
    with pytest.raises(SettingsError, match="AFTERTURN_WORKER_SLOT: no such setting"):
        load_settings()


def test_a_former_name_of_a_setting_is_read_and_its_new_one_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_TENANT_SEATS", "7")
    with pytest.warns(FutureWarning, match="AFTERTURN_TENANT_SEATS is called AFTERTURN_TENANT_SLOTS now"):
        assert load_settings().tenant_slots == 7


def test_a_wrong_value_of_a_renamed_setting_is_explained_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AFTERTURN_NIGHT_SLOTS", "none")
    with pytest.raises(SettingsError, match=r"^AFTERTURN_NIGHT_SLOTS: .* not 'none'$"):
        load_settings()


def test_the_clients_variables_may_stand_in_the_same_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_URL", "http://127.0.0.1:8080")
    monkeypatch.setenv("AFTERTURN_API_KEY", "of a backend")

    load_settings()


def test_what_kubernetes_puts_into_every_pod_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a Service that is called `afterturn-redis`."""
    monkeypatch.setenv("AFTERTURN_REDIS_SERVICE_HOST", "10.0.0.7")
    monkeypatch.setenv("AFTERTURN_REDIS_PORT", "tcp://10.0.0.7:6379")
    with pytest.raises(SettingsError, match=r"AFTERTURN_REDIS_PORT.*enableServiceLinks: false"):
        load_settings()


@pytest.mark.parametrize("field", [name for name, info in Settings.model_fields.items() if info.get_default() is None])
def test_an_optional_setting_that_is_set_to_nothing_is_unset(monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    """As compose and Helm pass on what nobody has set."""
    monkeypatch.setenv(variable_of(field), "")
    assert getattr(load_settings(), field) is None


def test_the_env_file_is_read_and_the_environment_stands_above_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("AFTERTURN_WORKER_SLOTS=7\nAFTERTURN_LEASE_SECONDS=9\nMEMORY_NEIGHBORS_K=3\n")
    monkeypatch.setenv("AFTERTURN_LEASE_SECONDS", "11")
    settings = load_settings()
    assert (settings.worker_slots, settings.lease_seconds) == (7, 11.0)
    assert load_policy().memory_neighbors_k == 3


def test_a_line_of_the_env_file_that_is_no_setting_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AFTERTURN_WORKER_SLOT=8\n")
    with pytest.raises(SettingsError, match="AFTERTURN_WORKER_SLOT"):
        load_settings()


def test_the_catalog_lies_in_the_data_folder_unless_a_url_is_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AFTERTURN_DATA_DIR", "kept")
    assert load_settings().effective_catalog_url == f"sqlite:///{tmp_path / 'kept' / 'catalog.sqlite3'}"
    monkeypatch.setenv("AFTERTURN_CATALOG_URL", "postgresql://db/memories")
    assert load_settings().effective_catalog_url == "postgresql://db/memories"


def test_a_constant_set_by_hand_stands_against_the_embedders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMANTIC_AUTO_UPDATE", "0.93")
    policy = load_policy().on_scale_of(MINILM_LIKE)
    assert (policy.semantic_auto_update, policy.semantic_check_low) == (0.93, 0.65)


def test_a_threshold_that_fits_the_embedders_scale_may_be_set_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.75 lies below Titan's check range and well above this embedder's."""
    monkeypatch.setenv("SEMANTIC_AUTO_UPDATE", "0.75")
    policy = load_policy().on_scale_of(MINILM_LIKE)
    assert (policy.semantic_auto_update, policy.semantic_check_low) == (0.75, 0.65)


def test_the_example_file_names_every_setting_and_changes_none(tmp_path: Path) -> None:
    before, constants = load_settings(), load_policy()
    uncommented = re.sub(r"^# (?=[A-Z0-9_]+=)", "", env_example(), flags=re.MULTILINE)
    assert set(re.findall(r"^([A-Z0-9_]+)=", uncommented, re.MULTILINE)) == {variable_of(field) for field in FIELDS}
    (tmp_path / ".env").write_text(uncommented)
    after = load_settings()
    assert after == before
    assert load_policy() == constants
