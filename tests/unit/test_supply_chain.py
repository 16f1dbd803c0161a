"""The bill of materials has what is locked, and every licence may be used."""

from __future__ import annotations

import pytest

from tests.supply_chain import bill, is_allowed, locked, refused


def test_the_bill_names_every_locked_package_with_the_hashes_of_its_files() -> None:
    packages = locked()
    made = bill(packages)
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    assert len({one["bom-ref"] for one in made["components"]}) == len(packages) > 50
    assert all(one["externalReferences"] for one in made["components"])
    assert made["dependencies"][0]["dependsOn"] == [one["purl"] for one in made["components"]]


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
