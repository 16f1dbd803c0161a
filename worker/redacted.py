"""Redacted tasks: they show nothing of what people said in Celery's events, in Flower, in `inspect` or in failures."""

from __future__ import annotations

import re
from typing import Any

import structlog
from celery import Task
from celery.exceptions import TaskPredicate
from celery.worker.request import Request

from schema.errors import AfterturnError

_log = structlog.get_logger()
_OURS = re.compile(r"\(one (?:subject|document)\)|\(turn [^\s()]{1,200}\)|\(\)")
_HIDDEN = "(...)"


class TaskFailed(AfterturnError):
    """A task failed with an exception of a class; the class is all that is told."""


class RedactedRequest(Request):
    """A request whose arguments are shown as our own senders describe them.

    A sender in another language may leave the description to its library, which takes the arguments themselves.
    """

    @property
    def argsrepr(self) -> str:
        shown = str(super().argsrepr)
        return shown if _OURS.fullmatch(shown) else _HIDDEN

    @property
    def kwargsrepr(self) -> str:
        return "{}"

    def info(self, safe: bool = False) -> Any:  # noqa: ARG002
        return {**super().info(safe=True), "args": self.argsrepr, "kwargs": self.kwargsrepr}

    def __str__(self) -> str:
        return f"{self.name}[{self.id}]"

    __repr__ = __str__


class RedactedTask(Task):  # type: ignore[type-arg]
    """A task whose unexpected exception is logged without its message, and told to Celery by its class alone."""

    Request = "worker.redacted:RedactedRequest"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self.run(*args, **kwargs)
        except TaskPredicate:
            raise
        except Exception as error:  # noqa: BLE001  # It is raised on, but not with its message.
            _log.exception("task_failed", stage="task", task=self.name)
            raise TaskFailed(type(error).__name__) from None
