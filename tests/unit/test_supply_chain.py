"""The bill of materials has what is locked, and every licence may be used."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.supply_chain import ROOT, STATIC, VENDORED, bill, is_allowed, locked, refused

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
