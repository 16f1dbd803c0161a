"""Which fields of a value are wrong: what a refusal may say of a value that holds what somebody said."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

_MOST: Final = 5


def wrong_fields(error: ValidationError) -> str:
    """Return which fields are wrong and how, at most five of them and nothing of what they hold.

    "messages.0.role: Field required; occurred_at: Input should have timezone info"
    """
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    # A wrong message also leaves its tuple too short: only the message is worth naming.
    wrong_within = {problem["loc"][0] for problem in problems if len(problem["loc"]) > 1}
    named = [
        f"{'.'.join(map(str, problem['loc']))}: {message}" if problem["loc"] else message
        for problem in problems
        if len(problem["loc"]) != 1 or problem["loc"][0] not in wrong_within
        for message in (problem["msg"].removeprefix("Value error, "),)
    ]
    more = len(named) - _MOST
    return "; ".join(named[:_MOST] + ([f"and {more} more"] if more > 0 else []))
