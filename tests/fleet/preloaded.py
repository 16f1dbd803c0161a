"""What the processes of a fleet have in common, made once: all but `worker.app`, which reads the settings."""

import gc
from importlib import import_module
from importlib.metadata import entry_points

import memory.parser.english as language
from interfaces.cli.fleet import ask_kernel_to_end_with_parent

# Whoever ends the tests, however rudely, ends the server of forks with them, and it ends those that it forked.
ask_kernel_to_end_with_parent()
for module in (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
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
for plugin in entry_points(group="celery.commands"):
    plugin.load()
language.prepare()

# What is collected here is not looked through, and thereby copied, in each fork.
gc.collect()
gc.freeze()
