"""Tests that ask the package index, where it does not answer."""

from __future__ import annotations

from subprocess import CompletedProcess

import pytest

from tests.package_index import not_given

SILENT = CompletedProcess(["pip"], 1, "", "no route to host")


def test_a_test_that_gets_nothing_of_the_index_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INDEX_REQUIRED", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"does not give LangMem: no route"):
        not_given("LangMem", SILENT)


def test_it_fails_where_the_index_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDEX_REQUIRED", "1")
    with pytest.raises(pytest.fail.Exception, match=r"does not give LangMem: no route"):
        not_given("LangMem", SILENT)
