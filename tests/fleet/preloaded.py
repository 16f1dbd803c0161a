"""What the processes of a fleet have in common, made once: all but `worker.app` and `worker.tasks`, which read the
settings."""

import gc
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

import memory.parser.english as language
from interfaces.cli.fleet import ask_kernel_to_end_with_parent
from stores.embedding import adapted, cross_encoder, minilm, utterance_reader
from worker.extract import sentiment

# Whoever ends the tests, however rudely, ends the server of forks with them, and it ends those that it forked.
ask_kernel_to_end_with_parent()
for module in (
    "billiard.pool",
    "celery.app.amqp",
    "celery.app.events",
    "celery.app.log",
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "celery.worker.components",
    "celery.worker.strategy",
    "h2.connection",
    "interfaces.cli.main",
    "redbeat",
    "stores.index.sqlite",
    "stores.outgoing",
    "tests.fleet.oracle",
    "worker.broker",
    "worker.drain",
    "worker.inspection",
    "worker.logs",
    "worker.memory_bound",
    "worker.nights.cleanup",
    "worker.nights.dispatch",
    "worker.nights.jobs",
    "worker.nights.page",
    "worker.pipeline",
    "worker.redacted",
    "worker.scrape",
    "worker.shutdown",
    "worker.unreadable",
    "worker.webhooks",
):
    import_module(module)
for plugin in entry_points(group="celery.commands"):
    plugin.load()
language.prepare()
sentiment.prepare()
# A model runs on its caller's thread and has none of its own, so that one loaded here is whole in each fork; of MiniLM
# the threads that embed are not there yet.
minilm.MiniLM = cache(minilm.MiniLM)  # type: ignore[misc, assignment]
minilm.MiniLM()._model()
adapted._Loaded = cache(adapted._Loaded)  # type: ignore[misc, assignment]
for weights in (utterance_reader.WEIGHTS, cross_encoder.ENDINGS, cross_encoder.FORGETTING):
    adapted._Loaded(weights)

# What is collected here is not looked through, and thereby copied, in each fork.
gc.collect()
gc.freeze()
