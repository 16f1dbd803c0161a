"""The fleet's log: JSON lines with `batch`, `turn_id` and `stage` where they apply, never any content.

Exceptions are shown by their classes and where they were raised: their messages may hold what was said. The same goes
for what Celery says of messages that it cannot read.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import traceback

import structlog
from structlog.typing import ExcInfo, Processor

_LIBRARIES_THAT_CHATTER = (
    *("celery.app.trace", "celery.worker.strategy", "celery.beat", "kombu", "redbeat", "httpx"),
    "mcp.server.streamable_http",
)
_SHOWS_BODIES = "celery.worker.consumer"
_SHOW_CONTENT_FROM_DEBUG = ("celery.pool", "botocore", "boto3", "httpcore", "httpx", "urllib3")
"""From "debug" on, the pool logs the arguments of every task and the clients of models their requests."""
_PLACEHOLDER = re.compile(r"%[sr]")


def configure_logging(level: str) -> None:
    """Send our own and every library's log lines to standard error as JSON, from `level` on ("debug" ... "error").

    A task's start and end are not logged line by line: the metrics count them.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(_without_messages),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(number),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_leave_bodies_out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    for name in _SHOW_CONTENT_FROM_DEBUG:
        logging.getLogger(name).setLevel(max(number, logging.INFO))
    if number > logging.DEBUG:
        for name in _LIBRARIES_THAT_CHATTER:
            logging.getLogger(name).setLevel(max(number, logging.WARNING))
    threading.excepthook = _log_the_end_of_a_thread


def _leave_bodies_out(record: logging.LogRecord) -> bool:
    # Of a message that it cannot read, Celery logs the body.
    if record.name.startswith(_SHOWS_BODIES) and "body" in str(record.msg):
        record.msg, record.args = _PLACEHOLDER.sub("...", str(record.msg).partition("\n")[0]), ()
    return True


def _without_messages(exc_info: ExcInfo) -> str:
    """Return a traceback with the classes of the exceptions and no messages, the root cause first."""
    lines: list[str] = []
    error: BaseException | None = exc_info[1]
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        lines.insert(0, "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n\n".join(lines)


def _log_the_end_of_a_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        structlog.get_logger().error("thread_died", stage="process", exc_info=ended.exc_value)
