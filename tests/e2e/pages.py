"""The examples of a page of the docs, to be run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


class Page:
    """A page of docs/how-to by its name."""

    def __init__(self, name: str) -> None:
        self.path = HOW_TO / f"{name}.md"

    def code(self, holds: str, language: str = "python") -> str:
        """Return the one example on the page that holds some words."""
        fenced = re.findall(rf"^```{language}\n(.*?)^```$", self.path.read_text(), re.M | re.S)
        [found] = [text for text in fenced if holds in text]
        return str(found)

    def json(self, holds: str) -> dict[str, Any]:
        """Return the one JSON object on the page that holds some words."""
        found: dict[str, Any] = json.loads(self.code(holds, "json"))
        return found

    def run(self, holds: str, **given: Any) -> dict[str, Any]:
        """Run an example of the page, and return what it defines."""
        # Not in a dictionary of its own alone: FastAPI looks the types of a route up by its module.
        defined: dict[str, Any] = {"__name__": "page", **given}
        exec(compile(self.code(holds), str(self.path), "exec"), defined)
        return defined
