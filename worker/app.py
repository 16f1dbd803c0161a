"""The Celery application of the fleet: `celery -A worker.app worker --pool threads`, or `afterturn worker`."""

from __future__ import annotations

from typing import Any

from celery.schedules import crontab, schedule
from celery.signals import setup_logging

from schema.settings import load_settings
from stores.queue import BEAT_KEYS, NIGHT, NIGHTLY_QUEUE, SWEEP, TIDY, create_celery
from worker.broker import outlive_lost_connections
from worker.logs import configure_logging

JOBS = ("consolidate", "promote", "forget")
_DAY_SECONDS = 86_400

outlive_lost_connections()
settings = load_settings()
app = create_celery(settings)
app.task_cls = "worker.redacted:RedactedTask"
app.conf.update(
    include=["worker.tasks"],
    # What is no task becomes a dead letter, and ends nobody.
    worker_consumer="worker.unreadable:CarefulConsumer",
    # One process a machine with many threads: a turn waits for models and stores, it does not compute.
    worker_pool="threads",
    worker_concurrency=settings.worker_slots,
    # A message is acknowledged when its work is done, so a killed worker's comes back.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # Take from the queue only what a free slot can start: what is not taken, another worker takes.
    worker_prefetch_multiplier=1,
    worker_disable_prefetch=True,
    worker_eta_task_limit=100,
    # True would end every worker of the threads pool on a broker's blip.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    # Monitoring is asked for, not paid for by default: events cost a sixth of a short task.
    worker_send_task_events=settings.task_events,
    worker_enable_remote_control=True,
    timezone="UTC",
    # There are no results to clean up after, so beat need not schedule it.
    result_expires=None,
    beat_scheduler="redbeat.RedBeatScheduler",
    # A second beat takes over in about 17 s; by default it waits 25 minutes.
    beat_max_loop_interval=3,
    redbeat_lock_timeout=15,
    redbeat_redis_url=settings.broker_url,
    redbeat_key_prefix=BEAT_KEYS,
    beat_schedule={
        "sweep": {
            "task": SWEEP,
            "schedule": schedule(settings.sweep_seconds),
            # One that nobody took in time costs a worker its claim, no more. This only bounds how many there can be: a
            # short time would be up at once for a worker whose clock is ahead.
            "options": {"queue": NIGHTLY_QUEUE, "expires": _DAY_SECONDS},
        },
        # Each quarter of an hour, for the zones in which it is time: beat itself knows no zone but UTC.
        **{
            f"night-{job}": {
                "task": NIGHT,
                "args": [job],
                "schedule": crontab(minute="*/15"),
                "options": {"queue": NIGHTLY_QUEUE, "expires": _DAY_SECONDS},
            }
            for job in JOBS
        },
        "tidy": {
            "task": TIDY,
            "schedule": crontab(minute="40"),
            "options": {"queue": NIGHTLY_QUEUE, "expires": _DAY_SECONDS},
        },
    },
)


@setup_logging.connect
def _log_as_json(**_: Any) -> None:
    configure_logging(settings.log_level)
