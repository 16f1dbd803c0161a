"""Settings: `settings`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo
from rich.padding import Padding
from rich.text import Text

from interfaces.cli.arguments import JsonOption
from interfaces.cli.output import console, print_json
from schema import Policy
from schema.settings import Settings, load_policy, load_settings, variable_of
from schema.urls import without_password


def settings(
    example: Annotated[bool, typer.Option("--example", help="Print a commented .env file with the defaults.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List every setting: its environment variable, its value now, and what it does."""
    if example:
        typer.echo(env_example(), nl=False)
        return
    now = _shown(load_settings().model_dump(mode="json") | load_policy().model_dump(mode="json"))
    if as_json:
        print_json({variable_of(field): value for field, value in now.items()})
        return
    for field, info in _fields().items():
        console.print(Text.assemble((variable_of(field), "cyan"), f"={_written(now[field])}"), soft_wrap=True)
        console.print(Padding(Text(info.description or ""), (0, 0, 0, 4)))


def _shown(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values without the passwords in their URLs; other secrets do not show themselves."""
    urls = {name: without_password(value) for name, value in values.items() if name.endswith("_url") and value}
    return values | urls


def env_example() -> str:
    """Return all settings with their defaults as a commented `.env` file."""
    lines = ["# Every setting with its default; made by `afterturn settings --example`.\n"]
    for field, info in _fields().items():
        default = info.get_default()
        lines.append(f"\n# {info.description}\n# {variable_of(field)}={_written(default)}\n")
    return "".join(lines)


def _fields() -> dict[str, FieldInfo]:
    return {**Settings.model_fields, **Policy.model_fields}


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple | list):
        return json.dumps(list(value))
    if isinstance(value, dict):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
