"""What the doctor finds: a part that is broken, by its name and with the way to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import make_url, text
from typer.testing import CliRunner

from interfaces.cli.main import app
from interfaces.doctor import run_health_checks
from interfaces.doctor.broker import check_broker, check_fleet
from interfaces.doctor.machine import check_folders
from interfaces.doctor.models import check_embedder, check_llm
from interfaces.doctor.stores import check_stores
from interfaces.fleet_checks import advice_on
from interfaces.fleet_report import fleet_report
from interfaces.local.broker import embedded_broker
from schema import AuditAction, AuditEntry, Scope, Thresholds, Tombstone
from schema.health import HealthCheck, HealthStatus
from schema.settings import Settings
from stores.catalog import Changes, open_catalog
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from stores.embedding.base import Embedder
from stores.index import open_index
from stores.index.base import Entry, Vector
from stores.index.sqlite import SqliteIndex
from tests.conftest import free_port
from tests.contract.catalogs import ANNA, BERT, NOW, a_memory, changes
from tests.contract.embedders import minilm
from tests.contract.indexes import units
from tests.contract.loopback import Answer, Loopback, Request
from tests.contract.s3vectors_server import BUCKET, S3VectorsServer
from tests.postgres import PostgresServer

_LOADED = f"{__name__}:opened"
_ASKEW = f"{__name__}:askew"


def opened(_: Settings) -> Embedder:
    """MiniLM, loaded once."""
    return minilm()


class Askew:
    """An embedder for which everything is alike."""

    name, dimensions = "askew", 384
    thresholds = Thresholds(
        semantic_auto_update=0.9, semantic_check_low=0.6, episodic_auto_update=0.9, episodic_check_low=0.6
    )

    def embed(self, texts: Sequence[str]) -> Vector:
        return units(1, 384).repeat(len(texts), axis=0)


def askew(_: Settings) -> Askew:
    return Askew()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", embedder=_LOADED, worker_slots=4, _env_file=None)


def told(findings: Iterable[HealthCheck], part: str) -> HealthCheck:
    """The one finding on a part."""
    [found] = [one for one in findings if one.part == part]
    return found


def broken(findings: Iterable[HealthCheck]) -> list[str]:
    return [one.part for one in findings if one.status is not HealthStatus.OK]


def with_memories(settings: Settings, *, indexed: bool) -> None:
    catalog, index = open_catalog(settings), open_index(settings, minilm())
    catalog.commit(changes("t1"))
    if indexed:
        index.upsert([Entry.of(a_memory("t1"), minilm().embed(["a"])[0])])
    catalog.mark_done(catalog.index_jobs(), [id_ for id_, _ in catalog.outbox()])
    index.close()
    catalog.close()


def test_what_the_index_has_otherwise_than_the_catalog_is_named_and_told_again(settings: Settings) -> None:
    [vector] = minilm().embed(["a"])
    behind, gone, same = a_memory("behind"), a_memory("gone"), a_memory("same")
    with closing(open_catalog(settings)) as catalog, closing(open_index(settings, minilm())) as index:
        catalog.commit(Changes(subject=ANNA, at=NOW, created=(behind, gone, same)))
        index.upsert([Entry.of(memory, vector) for memory in (behind, gone, same)])
        newer = behind.model_copy(update={"version": 2})
        catalog.commit(Changes(subject=ANNA, at=NOW, updated=(newer,), deleted=(gone,)))
        catalog.mark_done(catalog.index_jobs())

        found = told(check_stores(settings, optimizes=False), "index versions")
        assert (found.status, "doctor --optimize" in found.hint) == (HealthStatus.FAILED, True)
        assert f"{behind.id} (memories) of {ANNA.key}: version 1, not 2" in found.found
        assert f"{gone.id} (memories) of {ANNA.key}: version 1, not erased" in found.found
        assert str(same.id) not in found.found
        assert catalog.index_jobs() == []

        list(check_stores(settings, optimizes=True))
        assert {job.memory_id: job.action for job in catalog.index_jobs()} == {behind.id: "upsert", gone.id: "delete"}
        index.delete(ANNA, [gone.index_key])
        index.upsert([Entry.of(newer, vector)])
        catalog.mark_done(catalog.index_jobs())
        assert told(check_stores(settings, optimizes=False), "index versions").status is HealthStatus.OK


def test_erasures_that_have_not_come_to_their_end_are_named(settings: Settings) -> None:
    with_memories(settings, indexed=True)
    line = AuditEntry(action=AuditAction.ERASED, **ANNA.model_dump(), at=NOW, by="d", reason="r", policy_version="p")
    stone = Tombstone(Scope.SUBJECT, "", NOW)
    with closing(open_catalog(settings)) as catalog:
        catalog.erasures.wipe(ANNA, 99, [stone], line)
        found = told(check_stores(settings, optimizes=False), "erasures")
        assert (found.status, "anna (tenant acme) since 2026-11-02" in found.found) == (HealthStatus.WARNING, True)
        reported, _ = fleet_report(settings.model_copy(update={"broker_url": f"redis://127.0.0.1:{free_port()}/0"}))
        assert [one["subject_id"] for one in reported.erasures_going_on or ()] == ["anna"]
        assert any("forget-user" in line for line in advice_on(reported))
        catalog.tombstones.finish(ANNA, [stone], NOW)
        assert "erasures" not in [one.part for one in check_stores(settings, optimizes=False)]


# -- the machine and the broker -----------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_is_named_with_the_setting(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    found = told(check_folders(settings), "data folder")
    assert (found.status, str(tmp_path / "data") in found.found) == (HealthStatus.FAILED, True)
    assert "AFTERTURN_DATA_DIR" in found.hint
    stores = list(check_stores(settings, optimizes=False))
    assert "AFTERTURN_DATA_DIR" in told(stores, "catalog").hint
    assert told(stores, "index").status is HealthStatus.SKIPPED


def test_locks_are_tried_on_the_disk_that_is_meant(settings: Settings) -> None:
    assert broken(check_folders(settings)) == []


def test_a_broker_that_is_down_is_named_without_its_password(settings: Settings) -> None:
    url = f"redis://me:hunter2@127.0.0.1:{free_port()}/0"
    away = settings.model_copy(update={"broker_url": url})
    found = [*check_broker(away), *check_fleet(away)]
    assert (told(found, "broker").status, "AFTERTURN_BROKER_URL" in told(found, "broker").hint) == (
        HealthStatus.FAILED,
        True,
    )
    assert "hunter2" not in repr(found)
    assert told(found, "workers").status is HealthStatus.SKIPPED


def test_a_broker_that_would_lose_turns_is_told_apart_from_one_that_would_not(
    settings: Settings, tmp_path: Path
) -> None:
    port = free_port()
    ours = settings.model_copy(update={"broker_url": f"redis://127.0.0.1:{port}/0"})
    with embedded_broker(ours.broker_url, tmp_path / "broker"), Redis(port=port) as redis:
        assert broken(check_broker(ours)) == []
        redis.config_set("maxmemory-policy", "allkeys-lru")
        assert "noeviction" in told(check_broker(ours), "broker keeps").hint
        redis.config_set("maxmemory-policy", "noeviction")
        redis.config_set("appendonly", "no")
        assert "appendonly yes" in told(check_broker(ours), "broker keeps").hint
        redis.replicaof("127.0.0.1", free_port())
        assert "primary" in told(check_broker(ours), "broker").hint
        redis.replicaof("NO", "ONE")
        redis.acl_setuser("poor", enabled=True, passwords=["+pw"], categories=["+@all", "-@scripting"], keys=["*"])
        poor = ours.model_copy(update={"broker_url": f"redis://poor:pw@127.0.0.1:{port}/0"})
        assert "Lua" in told(check_broker(poor), "mailboxes").hint
        found = list(check_fleet(ours, patience=0.1))
    assert ("afterturn worker" in told(found, "workers").hint, "afterturn beat" in told(found, "beat").hint) == (
        True,
        True,
    )


def test_beat_that_leads_and_does_not_ring_is_told(settings: Settings, broker_url: str) -> None:
    ours = settings.model_copy(update={"broker_url": broker_url})
    with Redis.from_url(broker_url) as redis:
        redis.set("afterturn:beat::lock", "1")
        now = redis.time()[0]
        redis.zadd("afterturn:beat::schedule", {"afterturn:beat:sweep": now - 600})
        assert "its sweep is 60" in told(check_fleet(ours, patience=0.1), "beat").found
        redis.zadd("afterturn:beat::schedule", {"afterturn:beat:sweep": now + 5})
        assert told(check_fleet(ours, patience=0.1), "beat").status is HealthStatus.OK
        redis.delete("afterturn:beat::lock", "afterturn:beat::schedule")


def test_settings_that_cannot_be_read_are_the_only_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_WORKER_SLOTS", "0")
    [found] = run_health_checks()
    assert (found.status, "AFTERTURN_WORKER_SLOTS" in found.hint) == (HealthStatus.FAILED, True)


@pytest.mark.parametrize("option", ["--optimize", "--tend"])
def test_doctor_is_asked_to_optimize_by_either_name_of_the_option(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFTERTURN_WORKER_SLOTS", "0")
    result = CliRunner().invoke(app, ["doctor", option])
    assert (result.exit_code, "AFTERTURN_WORKER_SLOTS" in result.output) == (1, True)


# -- models -------------------------------------------------------------------------------------------------------


def test_thresholds_that_are_not_on_the_embedders_scale_are_told(settings: Settings) -> None:
    _, found = check_embedder(settings.model_copy(update={"embedder": _ASKEW}))
    assert "benchmarks.calibrate" in told(found, "thresholds").hint
    _, found = check_embedder(settings)
    assert broken(found) == []


def test_a_model_that_is_not_there_is_named(settings: Settings, tmp_path: Path) -> None:
    embedder, [found] = check_embedder(
        settings.model_copy(update={"embedder": "onnx", "embedder_model": str(tmp_path)})
    )
    assert (embedder, "AFTERTURN_EMBEDDER_MODEL" in found.hint) == (None, True)


def test_the_language_model_is_called_only_when_asked(settings: Settings, server: Loopback) -> None:
    server.answer = lambda _request: Answer(500)
    ours = settings.model_copy(update={"llm": "openai", "llm_model": "m", "llm_url": server.url})
    assert [one.status for one in check_llm(ours, call=False)] == [HealthStatus.SKIPPED]
    assert server.requests == []
    assert "AFTERTURN_LLM_URL" in told(check_llm(ours, call=True), "language model").hint
    assert server.requests
    lacking = settings.model_copy(update={"extractor": "llm"})
    assert "AFTERTURN_LLM" in told(check_llm(lacking, call=False), "language model").hint


# -- stores -------------------------------------------------------------------------------------------------------


def test_stores_that_agree_have_nothing_to_mend(settings: Settings) -> None:
    with_memories(settings, indexed=True)
    assert broken(check_stores(settings, optimizes=False)) == []


def test_an_index_of_another_model_is_refused_with_the_way_out(settings: Settings) -> None:
    made = SqliteIndex(settings.index_dir)
    made.ensure(8, "cosine", "another")
    made.close()
    found = told(check_stores(settings, optimizes=False), "index")
    assert found.status is HealthStatus.FAILED
    assert [word for word in ("dimensions 8", "another", "AFTERTURN_INDEX_NAME") if word not in found.hint] == []


def test_an_index_that_has_nothing_of_the_catalog_asks_for_a_reindex(settings: Settings) -> None:
    with_memories(settings, indexed=False)
    found = told(check_stores(settings, optimizes=False), "index contents")
    assert (found.status, "afterturn reindex" in found.hint) == (HealthStatus.FAILED, True)


def test_a_move_that_was_not_ended_is_told(settings: Settings) -> None:
    with_memories(settings, indexed=True)
    catalog = open_catalog(settings)
    catalog.reindex_jobs.begin("sqlite:next", "m", datetime.now(UTC))
    assert "afterturn reindex" in told(check_stores(settings, optimizes=False), "move").hint
    catalog.reindex_jobs.finish("sqlite:next", datetime.now(UTC))
    assert "--finish" in told(check_stores(settings, optimizes=False), "move").hint
    catalog.close()


def test_what_a_killed_end_of_a_move_told_too_late_is_told_again(settings: Settings) -> None:
    """Of a user who is erased by now, too, whom no comparison of the catalog's users would come to."""
    [vector] = minilm().embed(["a"])
    behind, gone = a_memory("behind"), a_memory("gone", BERT)
    with closing(open_catalog(settings)) as catalog, closing(open_index(settings, minilm())) as index:
        catalog.commit(Changes(subject=ANNA, at=NOW, created=(behind,)))
        catalog.commit(Changes(subject=BERT, at=NOW, created=(gone,)))
        catalog.reindex_jobs.begin("sqlite:main", minilm().name, NOW)
        catalog.reindex_jobs.finish("sqlite:main", NOW)
        newer = behind.model_copy(update={"version": 2})
        catalog.commit(Changes(subject=ANNA, at=NOW, updated=(newer,)))
        catalog.commit(Changes(subject=BERT, at=NOW, deleted=(gone,)))
        catalog.mark_done(catalog.index_jobs())
        index.upsert([Entry.of(memory, vector) for memory in (behind, gone)])  # Stale, and whoever told it is killed.

        optimized = list(check_stores(settings, optimizes=True))
        assert told(optimized, "move caught up").status is HealthStatus.OK
        assert told(optimized, "index versions").status is HealthStatus.OK
        assert [entry.version for entry in index.fetch(ANNA, [behind.index_key])] == [2]
        assert index.fetch(BERT, [gone.index_key]) == []
        assert catalog.reindex_jobs.behind() == 0


@pytest.fixture
def database(postgres: PostgresServer, settings: Settings) -> Iterator[Settings]:
    """An empty database, with the index in it and the graph beside."""
    url = postgres.database()
    yield settings.model_copy(update={"catalog_url": url, "index": "pgvector", "graph": "age", "hnsw_from": 100})
    postgres.drop(url)


def test_a_catalog_in_postgres_without_tables_asks_for_them_and_then_all_is_well(
    database: Settings, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = list(check_stores(database, optimizes=False))
    assert (told(found, "catalog tables").status, "afterturn migrate" in told(found, "catalog tables").hint) == (
        HealthStatus.FAILED,
        True,
    )
    engine = create_catalog_engine(database.effective_catalog_url)
    migrate(engine)
    assert broken(check_stores(database, optimizes=False)) == []

    index = open_index(database, minilm(), engine)
    memories = [a_memory(f"t{number}") for number in range(100)]
    catalog = open_catalog(database)
    catalog.commit(Changes(subject=ANNA, at=NOW, created=tuple(memories)))
    catalog.mark_done(catalog.index_jobs())
    index.upsert([Entry.of(*pair) for pair in zip(memories, units(100, 384), strict=True)])
    found = list(check_stores(database, optimizes=False))
    assert ("doctor --optimize" in told(found, "HNSW").hint, ANNA.key in told(found, "HNSW").found) == (True, True)
    assert "reindex --graph" in told(found, "graph facts").hint
    found = list(check_stores(database, optimizes=True))
    assert (told(found, "HNSW").status, told(found, "HNSW optimized").status) == (HealthStatus.OK, HealthStatus.OK)

    with engine.begin() as connection:
        connection.execute(text('DROP INDEX afterturn_graph."Entity_key"'))
    assert told(check_stores(database, optimizes=False), "graph").status is HealthStatus.OK
    with engine.begin() as connection:
        assert connection.execute(text("SELECT to_regclass('afterturn_graph.\"Entity_key\"')")).scalar() is not None
        connection.execute(text("ALTER TABLE memories DROP COLUMN revision"))
    found = list(check_stores(database, optimizes=False))
    assert "memories.revision" in told(found, "catalog tables").found
    catalog.close()
    engine.dispose()


def test_a_database_that_is_not_there_is_named_without_its_password(database: Settings) -> None:
    url = make_url(database.effective_catalog_url).set(database="nowhere", password="hunter2")
    away = database.model_copy(update={"catalog_url": url.render_as_string(hide_password=False)})
    found = list(check_stores(away, optimizes=False))
    assert "createdb" in told(found, "catalog").hint
    assert "hunter2" not in repr(found)


def test_a_user_who_may_only_read_is_told_so(database: Settings, postgres: PostgresServer) -> None:
    engine = create_catalog_engine(database.effective_catalog_url)
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE ROLE reader LOGIN"))
        connection.execute(text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"))
    url = make_url(database.effective_catalog_url).set(username="reader")
    poor = database.model_copy(update={"catalog_url": url.render_as_string(hide_password=False)})
    assert "GRANT" in told(check_stores(poor, optimizes=False), "catalog rights").hint
    with engine.begin() as connection:
        connection.execute(text("DROP OWNED BY reader"))
        connection.execute(text("DROP ROLE reader"))
    engine.dispose()


def test_a_right_that_is_missing_at_amazon_is_named(settings: Settings, s3vectors: Loopback) -> None:
    service = s3vectors.answer
    assert isinstance(service, S3VectorsServer)
    ours = settings.model_copy(
        update={"index": "s3vectors", "s3vectors_bucket": BUCKET, "aws_region": "eu-central-1", "index_name": "doctor"}
    )
    assert broken(check_stores(ours, optimizes=False)) == []

    def refusing(request: Request) -> Answer:
        if request.path == "/PutVectors":
            return Answer(403, {"message": "no"}, {"x-amzn-ErrorType": "AccessDeniedException"})
        return service(request)

    s3vectors.answer = refusing
    found = told(check_stores(ours, optimizes=False), "index rights")
    s3vectors.answer = service
    assert ("s3vectors:PutVectors" in found.found, "deploy/iam" in found.hint) == (True, True)
    elsewhere = ours.model_copy(update={"s3vectors_bucket": "another-bucket"})
    assert "AFTERTURN_S3VECTORS_BUCKET" in told(check_stores(elsewhere, optimizes=False), "index").hint
