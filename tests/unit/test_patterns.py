"""Each regular expression that reads what people say has a docstring, with an example that it finds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_ROOMS = ("policies", "worker/extract")
_EXAMPLE = re.compile(r'`([^`]+)`|"([^"]+)"')


def _patterns() -> Iterator[tuple[str, str, str]]:
    """Yield module, name and docstring of each pattern that stands by itself; the docstring is empty where none is."""
    for path in sorted(file for room in _ROOMS for file in (_ROOT / room).rglob("*.py")):
        module = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for statement, following in zip(body, [*body[1:], None], strict=True):
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(name)], value=ast.Call() as call)
                    | ast.AnnAssign(target=ast.Name(name), value=ast.Call() as call)
                ) if ast.unparse(call.func) == "re.compile":
                    match following:
                        case ast.Expr(ast.Constant(str(docstring))):
                            yield module, name, docstring
                        case _:
                            yield module, name, ""


@pytest.mark.parametrize(("module", "name", "docstring"), list(_patterns()), ids=lambda value: str(value)[:40])
def test_a_pattern_says_what_it_finds_by_an_example(module: str, name: str, docstring: str) -> None:
    pattern: re.Pattern[str] = getattr(import_module(module), name)

    examples = [(code or prose).replace("\\n", "\n") for code, prose in _EXAMPLE.findall(docstring)]

    assert any(pattern.search(example) for example in examples), f"{module}.{name} finds none of {examples}"
