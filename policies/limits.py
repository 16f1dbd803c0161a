"""What a subject may write in an hour before its memories count for less."""

from __future__ import annotations

from schema import Policy


def within_rate(writes_last_hour: int, explicit: bool, policy: Policy) -> float:
    """Return what to multiply a candidate's importance by: 1 within the hour's writes, less past them.

    `writes_last_hour` counts the subject's memories written in the hour before this one. What the user asked to be
    remembered is never lowered ("S3 Vectors Memory Implementation Plan (V1)", configuration
    knobs).
    """
    if explicit or writes_last_hour < policy.memory_write_rate_limit_per_hour:
        return 1.0
    return policy.rate_limited_importance_factor
