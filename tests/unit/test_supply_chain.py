"""The bill of materials has what is locked, and every licence may be used."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.testing import CliRunner

from tests.conftest import free_port
from tests.supply_chain import ROOT, STATIC, VENDORED, app, bill, is_allowed, locked, refused, vulnerable

LOCKS = ROOT / "locks"
OURS = {"pages.css", "pages.js", "icon.svg"}


def test_the_bill_names_every_locked_package_with_the_hashes_of_its_files() -> None:
    packages = locked()
    made = bill(packages)
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    components = made["components"][: len(packages)]
    assert len({one["bom-ref"] for one in components}) == len(packages) > 50
    assert all(one["externalReferences"] for one in components)
    assert made["dependencies"][0]["dependsOn"] == [one["purl"] for one in components]


def test_what_the_pages_have_of_others_is_as_they_made_it_and_beside_its_licence() -> None:
    theirs = {name: digest for one in VENDORED for name, digest in one.files.items()}
    licences = {f"{one.name}-{one.version}.LICENSE.txt" for one in VENDORED}
    assert {path.name for path in STATIC.iterdir()} - OURS == theirs.keys() | licences
    assert {name: hashlib.sha256((STATIC / name).read_bytes()).hexdigest() for name in theirs} == theirs
    named = {one["name"]: one["licenses"] for one in bill(locked())["components"] if one["purl"].startswith("pkg:npm/")}
    assert named == {one.npm: [{"license": {"id": one.licence}}] for one in VENDORED}


def test_the_same_lock_makes_the_same_bill() -> None:
    assert bill(locked()) == bill(locked())


def test_every_locked_package_may_be_used() -> None:
    assert [line for line in refused(locked()) if "not installed here" not in line] == []


class Osv(BaseHTTPRequestHandler):
    """In the place of OSV: knows two vulnerabilities of one of our packages."""

    status = 200

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        named = [query["package"]["purl"].startswith("pkg:pypi/redis@") for query in asked]
        answer = {"results": [{"vulns": [{"id": "GHSA-1"}, {"id": "PYSEC-2"}]} if one else {} for one in named]}
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def osv() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Osv) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1/querybatch"
        server.shutdown()
        thread.join()


def test_a_known_vulnerability_of_what_is_locked_is_named_and_fails(osv: str) -> None:
    [redis] = [package for package in locked() if package.name == "redis"]
    told = CliRunner().invoke(app, ["vulnerabilities", "--url", osv])
    assert (told.exit_code, f"pkg:pypi/redis@{redis.version}: GHSA-1, PYSEC-2" in told.output) == (1, True)
    assert vulnerable([package for package in locked() if package.name != "redis"], osv) == []


def test_where_nobody_can_be_asked_for_vulnerabilities_that_is_said(osv: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Osv, "status", 503)
    for url in (osv, f"http://127.0.0.1:{free_port()}/"):
        told = CliRunner().invoke(app, ["vulnerabilities", "--url", url])
        assert (told.exit_code, "NOT LOOKED FOR" in told.output) == (0, True)


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("(MIT OR AGPL-3.0-only)", True),
        ("SSPL-1.0", False),
        ("unknown", False),
    ],
)
def test_an_alternative_is_enough_and_every_part_of_it_counts(licence: str, allowed: bool) -> None:
    assert is_allowed(licence) == allowed


def test_each_extra_has_a_lock_of_its_own_with_the_versions_of_all() -> None:
    together = _pins(ROOT / "requirements.lock")
    own = {path.stem: _pins(path) for path in LOCKS.glob("*.lock") if not path.stem.startswith("client")}
    project = _project(ROOT)
    assert own.keys() == {"base", *project["optional-dependencies"]} - {"build", "dev"}
    for extra, packages in own.items():
        # What looks for turns that break the rules is in no image.
        assert {name for name, _ in packages - together} == ({"atheris"} if extra == "fuzz" else set())
        for name in {*_names(project["dependencies"], project), *_names([f"afterturn[{extra}]"], project)}:
            assert name in {name for name, _ in packages}, f"{extra}: make lock KEEP=1"


def test_the_client_and_each_extra_of_it_has_a_lock_of_its_own_with_the_versions_that_are_tested() -> None:
    tested = dict(_pins(ROOT / "requirements-dev.lock"))
    own = {path.stem: dict(_pins(path)) for path in LOCKS.glob("client*.lock")}
    project = _project(ROOT / "clients" / "python")
    extras = project["optional-dependencies"]
    assert own.keys() == {"client", *(f"client-{extra}" for extra in extras)}
    for lock, packages in own.items():
        wanted = _names([*project["dependencies"], *extras.get(lock.removeprefix("client-"), [])], project)
        assert wanted <= packages.keys(), f"{lock}: make lock KEEP=1"
        assert {name: version for name, version in packages.items() if tested.get(name, version) != version} == {}


def _pins(lock: Path) -> set[tuple[str, str]]:
    return {(package.name, package.version) for package in locked(lock)}


def _project(folder: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return project


def _names(wanted: list[str], project: dict[str, Any]) -> set[str]:
    """Return the packages that are asked for, those of our own extras in their place."""
    names: set[str] = set()
    for requirement in map(Requirement, wanted):
        if requirement.name != project["name"]:
            names.add(canonicalize_name(requirement.name))
            continue
        for extra in requirement.extras - {"base"}:
            names |= _names(project["optional-dependencies"][extra], project)
    return names


def test_the_base_is_small() -> None:
    base = locked(LOCKS / "base.lock")
    assert len([one for one in base if not one.marker]) <= 20
    heavy = {"celery", "numpy", "onnxruntime", "spacy", "sqlalchemy"}
    assert not heavy & {one.name for one in base}


def test_every_package_that_is_published_holds_the_text_of_the_licence() -> None:
    python, node = ROOT / "clients" / "python", ROOT / "clients" / "typescript"
    assert all((folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes() for folder in (python, node))
    for folder in (ROOT, python):
        assert tomllib.loads((folder / "pyproject.toml").read_text())["project"]["license-files"] == ["LICENSE"]
    assert "LICENSE" in json.loads((node / "package.json").read_text())["files"]


def test_no_package_claims_a_python_on_which_it_was_never_run() -> None:
    measured = (ROOT / "docs" / "reference" / "measured.md").read_text()
    [row] = [line for line in measured.splitlines() if "`make test-wheels`" in line]
    said = re.search(r"work on Python ([\d., ]+);", row)
    assert said is not None
    for folder in (ROOT, ROOT / "clients" / "python"):
        classifiers = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["classifiers"]
        claimed = {
            one.rpartition(" ")[2] for one in classifiers if one.startswith("Programming Language :: Python :: 3.")
        }
        assert claimed == set(said[1].split(", "))
