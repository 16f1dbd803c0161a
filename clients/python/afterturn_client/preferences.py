"""Requests of what a user wants of their memory."""

from __future__ import annotations

from typing import Literal

from afterturn_client.model import Checked, Preferences, checked_of, preferences_of
from afterturn_client.requests import Request, body_of, subject_path


def preferences(user_id: str) -> Request[Preferences]:
    """Return what a user wants of their memory."""
    path = subject_path(user_id, "/preferences")
    return Request("GET", path, preferences_of, _of(user_id), harmless=True)


def want(
    user_id: str,
    *,
    consent: Literal["granted", "withdrawn"] | None = None,
    time_zone: str | None = None,
    etag: str | None = None,
) -> Request[Preferences]:
    """Give or withdraw consent, or say where a user lives; what is left out stays. With `etag` only if the user still
    wants what the preferences of that one say.

    Raises:
        PreconditionFailed: they want something else by now; get their preferences again.
        RequestFailed: the service did not do it; the class says why.
    """
    body = body_of({"consent": consent, "time_zone": time_zone})
    headers = () if etag is None else (("If-Match", f'"{etag}"'),)
    path = subject_path(user_id, "/preferences")
    # Sent again with its etag, it would meet what it has done itself.
    return Request("PATCH", path, preferences_of, _of(user_id), body, headers, harmless=etag is None)


def block_topic(user_id: str, topic: str) -> Request[Preferences]:
    """Keep and tell nothing on a topic from now on."""
    return Request("PUT", subject_path(user_id, "/topics/", topic), preferences_of, _of(user_id), harmless=True)


def unblock_topic(user_id: str, topic: str) -> Request[Preferences]:
    """Let a topic be kept and told again."""
    return Request("DELETE", subject_path(user_id, "/topics/", topic), preferences_of, _of(user_id), harmless=True)


def check(user_id: str, text: str) -> Request[Checked]:
    """Tell whether a text is on none of the topics that a user wants left alone."""
    body = body_of({"text": text})
    return Request("POST", subject_path(user_id, "/topics/check"), checked_of, _of(user_id), body, harmless=True)


def _of(user_id: str) -> tuple[tuple[str, str], ...]:
    return (("user_id", user_id),)
