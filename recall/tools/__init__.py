"""Tools for agents: one set of functions over a principal, whatever face they are called by.

`TOOLS` has them by name, `call` calls one; arguments and answers are pydantic models with JSON schemas.
"""

from typing import Any, Final

from recall.tools.examples import EXAMPLE_TOOLS
from recall.tools.memories import MEMORY_TOOLS
from recall.tools.summaries import SUMMARY_TOOLS
from recall.tools.tool import Answer, Effect, Failure, Tool, ToolContext, call

TOOLS: Final[dict[str, Tool[Any]]] = {tool.name: tool for tool in (*MEMORY_TOOLS, *SUMMARY_TOOLS, *EXAMPLE_TOOLS)}

__all__ = [
    "EXAMPLE_TOOLS",
    "MEMORY_TOOLS",
    "SUMMARY_TOOLS",
    "TOOLS",
    "Answer",
    "Effect",
    "Failure",
    "Tool",
    "ToolContext",
    "call",
]
