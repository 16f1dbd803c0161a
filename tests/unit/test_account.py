"""Who is at the keyboard: the audit names somebody, whoever it is."""

from __future__ import annotations

import os
import pwd

import pytest

from interfaces.cli.arguments import account


def test_an_account_without_a_name_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs as any user."""

    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert account() == f"uid {os.getuid()}"
