"""What the processes of a fleet have in common, imported once: all but `worker.app`, which reads the settings."""

from importlib import import_module

import memory.parser.english as language
from interfaces.cli.fleet import ask_kernel_to_end_with_parent

# Whoever ends the tests, however rudely, ends the server of forks with them, and it ends those that it forked.
ask_kernel_to_end_with_parent()
for module in (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.concurrency.thread",
    "redbeat",
    "tests.fleet.oracle",
    "worker.broker",
    "worker.redacted",
    "worker.drain",
    "worker.nights",
    "worker.pipeline",
    "worker.scrape",
    "worker.unreadable",
):
    import_module(module)
language.prepare()
