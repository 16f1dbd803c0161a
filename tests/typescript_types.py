"""Writes the types of the TypeScript client, of the service's OpenAPI document.

python -m tests.typescript_types > clients/typescript/types.d.ts
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from interfaces.http.app import create_app
from schema.settings import Settings

ROOTS: Final = (
    *("ContextOut", "CostsOut", "HitOut", "MemoryIn", "MemoryPatch", "PageOut", "RememberedOut", "TurnIn", "TurnOut"),
    "WholeMemoryOut",
)
_PLAIN: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def types() -> str:
    """Return the declarations of what the client sends and is answered, and of all that they name."""
    with tempfile.TemporaryDirectory() as folder:
        document = create_app(Settings(data_dir=Path(folder))).openapi()
    schemas: Mapping[str, Any] = document["components"]["schemas"]
    wanted, waiting = set(ROOTS), list(ROOTS)
    while waiting:
        named = _named_in(schemas[waiting.pop()])
        waiting += named - wanted
        wanted |= named
    declared = "\n\n".join(_declaration(name, schemas[name]) for name in sorted(wanted))
    return f"// Made of the service's OpenAPI document: python -m tests.typescript_types\n\n{declared}\n"


def _named_in(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set[str]().union(*map(_named_in, schema))
    if not isinstance(schema, dict):
        return set()
    named = {schema["$ref"].rsplit("/", 1)[1]} if isinstance(schema.get("$ref"), str) else set()
    return named.union(*map(_named_in, schema.values()))


def _declaration(name: str, schema: Mapping[str, Any]) -> str:
    said = " ".join(schema.get("description", "").split())
    comment = f"/** {said} */\n" if said else ""
    if "properties" not in schema:
        return f"{comment}export type {name} = {_type(schema)};"
    required = set(schema.get("required", ()))
    fields = [
        f"  {field}{'' if field in required else '?'}: {_type(of)};" for field, of in schema["properties"].items()
    ]
    return "\n".join([f"{comment}export interface {name} {{", *fields, "}"])


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "const" in schema or "enum" in schema:
        return " | ".join(map(json.dumps, schema.get("enum", [schema.get("const")])))
    if "anyOf" in schema:
        return " | ".join(map(_type, schema["anyOf"]))
    if schema.get("type") == "array":
        element = _type(schema.get("items", {}))
        return f"({element})[]" if " " in element else f"{element}[]"
    if schema.get("type") == "object":
        return "Record<string, unknown>"
    return _PLAIN.get(schema.get("type", ""), "unknown")


if __name__ == "__main__":
    print(types(), end="")
