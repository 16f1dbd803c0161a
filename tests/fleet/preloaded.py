"""What the processes of a fleet have in common, made once: all but `worker.app`, which reads the settings."""

import gc
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection

import memory.attributes as attributes
import memory.parser.english as language
from interfaces.cli.fleet import ask_kernel_to_end_with_parent
from schema.settings import Settings
from stores.embedding import open_embedder

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


def _embed_prototypes(told: Connection) -> None:
    attributes.prototypes_of(open_embedder(Settings()))
    told.send(attributes._prototypes)


# Vectors may be forked, the model that makes them may not: it is loaded in a process of its own, which ends.
reads, writes = Pipe(duplex=False)
embedding = get_context("fork").Process(target=_embed_prototypes, args=(writes,))
embedding.start()
writes.close()
attributes._prototypes.update(reads.recv())
embedding.join()
# What is collected here is not looked through, and thereby copied, in each fork.
gc.collect()
gc.freeze()
