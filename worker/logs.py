"""What the fleet writes to its log: JSON lines with `turn_id` and `stage` where they apply, and never any content."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import Processor

_LIBRARIES_THAT_CHATTER = ("celery.app.trace", "celery.worker.strategy", "celery.beat", "kombu", "redbeat")


def configure_logging(level: str) -> None:
    """Send our own and every library's log lines to standard error as JSON, from `level` on ("debug" ... "error").

    A task's start and end are not logged line by line: the metrics count them.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(number),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
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
    if number > logging.DEBUG:
        for name in _LIBRARIES_THAT_CHATTER:
            logging.getLogger(name).setLevel(max(number, logging.WARNING))
