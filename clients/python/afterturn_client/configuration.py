"""Which service is asked, as whom, and where turns wait for it on this machine."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

_LOCAL: Final = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Configuration:
    """A service, and how patiently it is asked: `timeout` in seconds for each answer, `attempts` for each request."""

    url: str
    key: str | None = field(repr=False)
    timeout: float
    attempts: int

    def spool_folder(self) -> Path:
        """Return a folder of this account's own for this service and key: turns of two tenants never share one."""
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        key = _digest(f"{self.url} {self.key or ''}")[:16]
        return Path(state) / "afterturn-client" / f"{self._service()}-{key}"

    def spool_folders_of_other_keys(self) -> list[Path]:
        """Return the folders that there are for other keys of this service: other tenants' keys, or replaced ones."""
        own = self.spool_folder()
        return sorted(set(own.parent.glob(f"{self._service()}-*")) - {own})

    def _service(self) -> str:
        return _digest(self.url)[:8]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def configured(url: str | None, key: str | None, *, timeout: float, attempts: int) -> Configuration:
    """Return what is given, and for what is None what the environment names: AFTERTURN_URL, AFTERTURN_API_KEY.

    Raises:
        ValueError: the URL or the key cannot be one.
    """
    named = (url or os.environ.get("AFTERTURN_URL") or _LOCAL).rstrip("/")
    secret = (key or os.environ.get("AFTERTURN_API_KEY") or "").strip()
    split_url = urlsplit(named)
    if split_url.scheme not in {"http", "https"} or not split_url.hostname or split_url.query or split_url.fragment:
        raise ValueError("url (AFTERTURN_URL) should be where the service is, such as https://memory.example.com")
    if not (secret.isascii() and secret.isprintable()):
        raise ValueError("key (AFTERTURN_API_KEY) should be what `afterturn keys create` printed")
    return Configuration(named, secret or None, timeout, attempts)
