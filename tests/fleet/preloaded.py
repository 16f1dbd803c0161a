"""What the processes of a fleet have in common, imported once: all but `worker.app`, which reads the settings."""

from importlib import import_module

from interfaces.cli.fleet import ask_kernel_to_end_with_parent
from worker.extract import language

# Whoever ends the tests, however rudely, ends the server of forks with them, and it ends those that it forked.
ask_kernel_to_end_with_parent()
for module in (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.concurrency.thread",
    "redbeat",
    "tests.fleet.oracle",
    "worker.broker",
    "worker.contentless",
    "worker.drain",
    "worker.nights",
    "worker.pipeline",
    "worker.scrape",
    "worker.unreadable",
):
    import_module(module)
language.prepare()
