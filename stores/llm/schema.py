"""JSON schemas of answers, in the dialects that providers take."""

from __future__ import annotations

import json
from typing import Any

_DEFINITIONS = "#/$defs/"
_NOT_IN_STRICT = ("default", "minLength", "maxLength", "pattern", "format", "uniqueItems")
"""Keywords that OpenAI's strict mode refuses or has refused (its guide to structured outputs, "supported schemas"). The
answer is checked against all of it afterwards anyway."""
ANSWER = "answer"
"""The name of the schema where it needs one."""


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a pydantic schema without titles, its definitions put where they are used: Nova and the grammars of some
    servers know neither.

    Raises:
        ValueError: it refers to itself.
    """
    whole = _inlined(schema, schema.get("$defs", {}), ())
    return {key: value for key, value in whole.items() if key != "$defs"}


def characters_sent(prompt: str, schema: dict[str, Any]) -> int:
    """Return how many characters a provider is sent: of the prompt, and of the JSON schema beside it."""
    return len(prompt) + len(json.dumps(inlined(schema), ensure_ascii=False, separators=(",", ":")))


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema as OpenAI's strict mode wants it: every field required, no others allowed, few keywords.

    A field with a default is asked for like the others; what does not apply is null or empty by its type.
    """
    made: dict[str, Any] = _strict(inlined(schema))
    return made


def with_schema(prompt: str, schema: dict[str, Any]) -> str:
    """Return the prompt with the schema behind it, for a model that cannot be given one."""
    shown = json.dumps(inlined(schema), ensure_ascii=False, separators=(",", ":"))
    return f"{prompt}\n\nAnswer with one JSON object and nothing else. It must follow this JSON schema:\n{shown}"


def _inlined(node: Any, definitions: dict[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, definitions, within) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix(_DEFINITIONS)
        if name in within:
            raise ValueError(f"the schema of {name} refers to itself; a provider cannot be asked for it")
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _inlined({**definitions[name], **beside}, definitions, (*within, name))
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: _inlined(field, definitions, within) for name, field in value.items()}
        elif not (key == "title" and isinstance(value, str)):
            kept[key] = value if key in {"$defs", "default", "enum", "const"} else _inlined(value, definitions, within)
    return kept


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: _strict(field) for name, field in value.items()}
        elif key not in _NOT_IN_STRICT:
            kept[key] = value if key in {"enum", "const"} else _strict(value)
    if kept.get("type") == "object":
        kept["additionalProperties"] = False
        kept["required"] = list(kept.setdefault("properties", {}))
    return kept
