"""The house keeps its own rules: what linters are told is all of it, and nothing stays behind of where it was built."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.running import DURATIONS

ROOT = Path(__file__).parents[2]
NOT_SHIPPED = {"benchmarks", "tests"}
SHIPPED_ALONE = {"clients"}
MADE_BY_TOOLS = {"__pycache__", "node_modules", "data", "dist", "build"}
MAX_LINES = 400
OPENS_NO_DOCSTRING = ("That ", "What ", "Whether ", "It with ")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def own_files(folder: Path = ROOT) -> Iterator[Path]:
    """The project's files, without what tools put beside them."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            hidden = path.name.startswith(".") and path.name not in {".ci", ".github"}
            if not hidden and path.name not in MADE_BY_TOOLS and path.suffix != ".egg-info":
                yield from own_files(path)
        elif path.is_file() and path.name != ".git":
            yield path


def packages() -> set[str]:
    return {path.parent.name for path in ROOT.glob("*/__init__.py")} - NOT_SHIPPED


def test_every_package_is_shipped_and_linted() -> None:
    settings = project()["tool"]
    assert set(settings["hatch"]["build"]["targets"]["wheel"]["packages"]) == packages()
    assert set(settings["importlinter"]["root_packages"]) == packages()
    assert set(settings["mypy"]["files"]) == packages() | NOT_SHIPPED | SHIPPED_ALONE


def test_every_package_has_its_floor() -> None:
    [floors] = [contract for contract in project()["tool"]["importlinter"]["contracts"] if contract["type"] == "layers"]
    rooms = [room.strip() for floor in floors["layers"] for room in floor.split("|")]
    assert sorted(rooms) == sorted(packages())


def test_no_file_is_two_rooms() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in own_files() if path.suffix == ".py"}
    assert {str(path.relative_to(ROOT)): count for path, count in lines.items() if count > MAX_LINES} == {}


def test_what_commits_changes_is_publish_or_named_in_the_decision_on_it() -> None:
    decision = (ROOT / "docs/decisions/0017-five-floors.md").read_text()
    committing = {
        str(path.relative_to(ROOT))
        for package in packages() - {"stores"}
        for path in own_files(ROOT / package)
        if path.suffix == ".py" and "catalog.commit(" in path.read_text()
    }
    assert committing >= {"memory/publish.py"}
    assert {path for path in committing - {"memory/publish.py"} if path not in decision} == set()


def test_no_file_names_the_place_where_it_was_built() -> None:
    place = f"/{'work'}/".encode()
    assert [str(path.relative_to(ROOT)) for path in own_files() if place in path.read_bytes()] == []


def test_every_file_of_tests_that_is_balanced_by_its_duration_has_one() -> None:
    noted = json.loads(DURATIONS.read_text())
    lacking = [
        file
        for folder in ("tests/browser", "tests/contract", "tests/e2e", "tests/fleet")
        for path in sorted((ROOT / folder).glob("test_*.py"))
        if (file := str(path.relative_to(ROOT))) not in noted
    ]
    assert lacking == [], f".venv/bin/python -m pytest -n 0 --store-durations {' '.join(lacking)}"


def test_every_package_and_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for package in packages()
        for path in own_files(ROOT / package)
        if path.suffix == ".py" and not path.read_text().lstrip().startswith(('"""', 'r"""'))
    ]
    assert silent == []


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The docstrings of a module, its classes, its functions, and of what is assigned in them, with their lines."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text), lineno=line)):
                    yield line, text


def test_a_docstring_begins_with_what_is_done_or_what_it_is() -> None:
    asking = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in sorted(packages() | SHIPPED_ALONE)
        for path in own_files(ROOT / package)
        if path.suffix == ".py"
        for line, text in docstrings(ast.parse(path.read_text()))
        if text.strip().startswith(OPENS_NO_DOCSTRING)
    ]
    assert asking == []


def test_the_help_of_make_says_all_in_one_column() -> None:
    said = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    targets = [line for line in said.stdout.splitlines() if line.startswith("  make ")]
    assert len(targets) > 10
    assert len({len(re.sub(r"^(  make \S+ +).*", r"\1", line)) for line in targets}) == 1
