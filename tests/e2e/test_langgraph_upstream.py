"""The tests that LangGraph has of its stores, in memory and on Postgres, run on ours against the real service.

They are not copied here: each comes from the sdist of its package, by the hash in a lock.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import re
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from itertools import count, product
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from afterturn_client import Client
from afterturn_client.langgraph import AfterturnStore
from tests.e2e.service import Served
from tests.package_index import not_given

_HERE: Final = Path(__file__).parent
_LOCKS: Final = {
    "langgraph-checkpoint": _HERE.parents[1] / "requirements-dev.lock",
    "langgraph-checkpoint-postgres": _HERE / "langgraph.lock",
}
_people = count()

IN_MEMORY: Final = (
    "test_list_namespaces_basic",
    "test_list_namespaces_with_wildcards",
    "test_list_namespaces_pagination",
    "test_list_namespaces_max_depth",
    "test_list_namespaces_no_conditions",
    "test_search_pages_match_full_listing",
    "test_list_namespaces_empty_store",
    "test_cannot_put_empty_namespace",
    "test_search_and_listing_keep_empty_prefixes_and_wildcards",
    "test_vector_search_scores_every_item",
    "test_vector_insert_with_auto_embedding",
    "test_async_vector_insert_with_auto_embedding",
    "test_vector_update_with_embedding",
    "test_async_vector_update_with_embedding",
    "test_vector_search_with_filters",
    "test_async_vector_search_with_filters",
    "test_vector_search_pagination",
    "test_async_vector_search_pagination",
    "test_embed_with_path",
    "test_non_ascii",
)
"""Those that are about a store; the others are about how calls are gathered, and about functions that we call."""

LEFT_OUT: Final = {
    "test_escape_like_literal": "their SQL",
    "test_namespace_match_pattern": "their SQL",
    "test_nonnull_migrations": "their migrations",
    "test_omit_expired_filters_read_paths": "backdates a row by SQL; contract/test_items.py has an expired item",
    "test_omit_expired_refresh_ttl_only_refreshes_live_rows": "backdates a row by SQL; contract/test_items.py has it",
    "test_omit_expired_search_pagination": "backdates rows by SQL",
    "test_omit_expired_disabled_preserves_expired_rows": "a setting to tell what has expired, which nothing here does",
    "test_abatch_uses_single_pool_checkout": "their pool of connections",
    "test_vector_store_initialization": "a store here has no embeddings of the caller's",
    "test_scores": "compares with the cosines of their letters",
    "test_no_running_loop": "refuses sync calls on an event loop, which a store with a Client serves",
    "test_large_batches": "6,000 calls to see that none hangs",
    "test_large_batches_async": "60,000 calls to see that none hangs",
    "test_store_ttl": "sleeps for 21 seconds; contract/test_items.py has it by the clock that it is given",
}
"""Those on Postgres that are about something else than a store, with what it is."""


@pytest.fixture(scope="module")
def client(service: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(service.url, service.key(), spool_dir=tmp_path_factory.mktemp("spool")) as client:
        yield client


def unpacked(package: str, folder: Path) -> Path:
    """The folder of the tests of the very package that is locked, from its own sdist, by the hash in the lock."""
    [pinned] = re.findall(rf"^{package}==[^\n]*\n(?:    [^\n]*\n)+", _LOCKS[package].read_text(), re.M)
    lines = [line for line in pinned.splitlines() if not line.strip().startswith("#")]
    (folder / "pinned.txt").write_text("\n".join(lines).rstrip("\\ ") + "\n")
    download = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--require-hashes"]
    command = [sys.executable, "-m", "pip", *download, "-d", str(folder), "-r", str(folder / "pinned.txt")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode:
        not_given(f"the sdist of {package}", said)
    name = package.replace("-", "_")
    [archive] = folder.glob(f"{name}-*.tar.gz")
    with tarfile.open(archive) as packed:
        # Python before 3.11.4 has no filters.
        packed.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        packed.extractall(folder)
    [tests] = folder.glob(f"{name}-*/tests")
    return tests


def load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def a_module(name: str, **holds: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(holds)
    return module


class Factory:
    """Makes stores for them where they make one: each with a user of its own."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, *, index: dict[str, Any] | None = None) -> AfterturnStore:
        return self.of((index or {}).get("fields"))

    def of(self, fields: list[str] | None = None) -> AfterturnStore:
        return AfterturnStore(self._client, user_id=f"upstream{next(_people)}", fields=fields or ("$",))

    @contextmanager
    def on_postgres(self, *_kinds: Any, text_fields: list[str] | None = None, **_more: Any) -> Iterator[AfterturnStore]:
        yield self.of(text_fields)

    def on_postgres_awaited(
        self, *_kinds: Any, text_fields: list[str] | None = None, **_more: Any
    ) -> AbstractAsyncContextManager[AfterturnStore]:
        @asynccontextmanager
        async def made() -> AsyncIterator[AfterturnStore]:
            yield self.of(text_fields)

        return made()


def settled(done: Any) -> None:
    if inspect.isawaitable(done):

        async def wait() -> None:
            await done

        asyncio.run(wait())


# -- the one in memory ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = unpacked("langgraph-checkpoint", tmp_path_factory.mktemp("upstream"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder.parent))
        # Imported by a test that is not among these, and for a type alone.
        patch.setitem(sys.modules, "pytest_mock", a_module("pytest_mock", MockerFixture=object))
        # Theirs is a package named `tests`, as ours is.
        embeddings = load(folder / "embed_test_utils.py", "embed_test_utils")
        patch.setitem(sys.modules, "tests.embed_test_utils", embeddings)
        return load(folder / "test_store.py", "langgraph_test_store")


@pytest.mark.parametrize("name", IN_MEMORY)
def test_what_langgraph_asks_of_its_store_in_memory_holds(
    client: Client, in_memory: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_memory, "InMemoryStore", Factory(client))
    test = getattr(in_memory, name)
    wanted = inspect.signature(test).parameters
    given = {"fake_embeddings": in_memory.CharacterEmbeddings(dims=500)} if "fake_embeddings" in wanted else {}
    assert wanted.keys() == given.keys()
    settled(test(**given))


# -- the one on Postgres ----------------------------------------------------------------------------------------------

ON_POSTGRES: Final = (
    "test_batch_order",
    "test_batch_get_ops",
    "test_batch_put_ops",
    "test_batch_search_ops",
    "test_batch_list_namespaces_ops",
    "test_basic_store_ops",
    "test_list_namespaces",
    "test_search_namespace_segment_boundary",
    "test_search_empty_prefix_is_unconstrained",
    "test_search_namespace_like_metacharacters",
    "test_list_namespaces_segment_boundary",
    "test_search",
    "test_vector_insert_with_auto_embedding",
    "test_vector_update_with_embedding",
    "test_vector_search_with_filters",
    "test_vector_search_pagination",
    "test_vector_search_edge_cases",
    "test_embed_with_path_sync",
    "test_embed_with_path_operation_config",
    "test_non_ascii",
    "test_namespace_labels_with_trailing_newline",
    "test_batch_rejects_invalid_namespace_labels",
    "test_batch_allows_empty_search_prefix_and_listing_wildcards",
)
ON_POSTGRES_AWAITED: Final = (
    "test_abatch_order",
    "test_batch_get_ops",
    "test_batch_put_ops",
    "test_batch_search_ops",
    "test_batch_list_namespaces_ops",
    "test_vector_insert_with_auto_embedding",
    "test_vector_update_with_embedding",
    "test_vector_search_with_filters",
    "test_vector_search_pagination",
    "test_vector_search_edge_cases",
    "test_embed_with_path",
    "test_search_sorting",
    "test_abatch_rejects_invalid_namespace_labels",
    "test_invalid_namespace_only_fails_its_own_call",
    "test_sync_methods_reject_invalid_namespace_labels",
)
_KINDS: Final = {"vector_type": "vector", "distance_type": "cosine"}
"""Their kinds of vectors, of which there is one here."""


@pytest.fixture(scope="module")
def on_postgres(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleType]:
    """Their two files, without the database that both make."""
    folder = unpacked("langgraph-checkpoint-postgres", tmp_path_factory.mktemp("upstream"))
    embeddings = load(folder / "embed_test_utils.py", "embed_test_utils")
    their_conftest = a_module(
        "tests.conftest", DEFAULT_URI="", VECTOR_TYPES=["vector"], CharacterEmbeddings=embeddings.CharacterEmbeddings
    )
    nothing: dict[str, Any] = {"PostgresStore": object, "AsyncPostgresStore": object}
    inner: dict[str, Any] = {"_escape_like_literal": None, "_namespace_match_pattern": None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "tests.conftest", their_conftest)
        patch.setitem(sys.modules, "langgraph.store.postgres", a_module("postgres", **nothing))
        patch.setitem(sys.modules, "langgraph.store.postgres.base", a_module("base", **inner))
        patch.setitem(sys.modules, "langgraph.checkpoint.postgres", a_module("postgres", _ainternal=None))
        return {name: load(folder / f"{name}.py", f"langgraph_{name}") for name in ("test_store", "test_async_store")}


def combinations(test: Any) -> Iterator[dict[str, Any]]:
    """What a test of theirs is called with beside fixtures."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    names = [[name.strip() for name in mark.args[0].split(",")] for mark in marks]
    for values in product(*(mark.args[1] for mark in marks)):
        given: dict[str, Any] = {}
        for called, value in zip(names, values, strict=True):
            given |= dict(zip(called, value if len(called) > 1 else (value,), strict=True))
        if {name: given.get(name, kind) for name, kind in _KINDS.items()} == _KINDS:
            yield given


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("test_store", name) for name in ON_POSTGRES),
        *(pytest.param("test_async_store", name, marks=pytest.mark.long) for name in ON_POSTGRES_AWAITED),
    ],
)
def test_what_langgraph_asks_of_its_store_on_postgres_holds(
    client: Client, on_postgres: dict[str, ModuleType], file: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, make = on_postgres[file], Factory(client)
    made = make.on_postgres if file == "test_store" else make.on_postgres_awaited
    monkeypatch.setattr(theirs, "_create_vector_store", made)
    test = getattr(theirs, name)
    called = list(combinations(test))
    assert called
    for given in called:
        fixtures = {
            "store": make.of(),
            "vector_store": make.of(),
            "fake_embeddings": theirs.CharacterEmbeddings(dims=500),
            "request": None,
        }
        wanted = inspect.signature(test).parameters
        settled(test(**{name: ({**fixtures, **given})[name] for name in wanted}))


def test_every_test_of_theirs_on_postgres_is_run_or_left_out_for_a_reason(on_postgres: dict[str, ModuleType]) -> None:
    there = {name for file in on_postgres.values() for name in vars(file) if name.startswith("test_")}
    assert there == {*ON_POSTGRES, *ON_POSTGRES_AWAITED, *LEFT_OUT}
