"""Copies of all that a fleet knows: `backup`, `restore-backup`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from interfaces.cli.arguments import ByOption, JsonOption
from interfaces.cli.output import console, errors, print_json
from interfaces.local.data_folder import own_data_folder
from memory.backup import make_backup
from memory.context import open_memory
from memory.restore import (
    Restored,
    read_erasures,
    read_manifest,
    require_empty_target,
    restore_catalog,
    restore_rest,
)
from producers.spool import Spool
from schema import Turn
from schema.backup import ErasureLine, Manifest, WaitingTurn
from schema.settings import Settings, load_settings
from stores.catalog import open_catalog_engine
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from stores.embedding import open_embedder
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis

FolderArgument = Annotated[Path, typer.Argument(help="The backup's folder.", file_okay=False)]
WithBrokerOption = Annotated[
    bool, typer.Option("--with-broker", help="Run the broker of `afterturn run` meanwhile, where that is stopped.")
]


def backup(folder: FolderArgument, with_broker: WithBrokerOption = False, as_json: JsonOption = False) -> None:
    """Copy all that is known, and all turns that wait, into a new folder, while the fleet works.

    Whoever reads the folder reads everything: only this account may, and it is not encrypted. Vectors are not in it,
    they are made anew. Keep the folder elsewhere; `afterturn restore-backup` takes it to where nothing is.
    """
    settings = load_settings()
    with _broker(settings, with_broker), closing(open_redis(settings)) as redis:
        engine = open_catalog_engine(settings, makes_catalog=False)
        manifest = make_backup(
            folder,
            settings=settings,
            engine=engine,
            redis=redis,
            mailbox=open_mailbox(settings, redis, create_celery(settings)),
            embedder=open_embedder(settings).name,
            spooled=_spooled(settings),
        )
        engine.dispose()
    if as_json:
        print_json(manifest.model_dump(mode="json"))
    else:
        size = sum(file.bytes for file in manifest.files)
        console.print(
            f"{folder}: {size / 1e6:.1f} MB, the catalog at revision {manifest.revision}, {manifest.turns} turns that "
            f"wait, {manifest.messages} messages, as of {manifest.began_at:%Y-%m-%d %H:%M:%S} UTC"
        )


def restore_backup(
    folder: FolderArgument,
    by: ByOption,
    erasures: Annotated[
        Path | None,
        typer.Option(
            help="The erasures.jsonl of a later backup: what was erased since is erased again.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    with_broker: WithBrokerOption = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a backup back to where nothing is: an empty catalog, index and broker. Start the fleet afterwards.

    A folder that was changed since it was written is refused, and a broker on which a fleet works: nothing is done.

    Without `--erasures`, what was erased after the backup is back.
    """
    settings = load_settings()
    manifest = read_manifest(folder)
    since = read_erasures(erasures) if erasures else []
    with _broker(settings, with_broker):
        restored = _restore(folder, manifest, settings, by, since, quiet=as_json)
    if as_json:
        print_json(vars(restored) | {"as_of": manifest.began_at})
        return
    console.print(
        f"restored as of {manifest.began_at:%Y-%m-%d %H:%M:%S} UTC: {restored.memories} memories indexed, "
        f"{restored.turns} turns and {restored.messages} messages wait again, {restored.left_out} erased left out, "
        f"{restored.erased} erasures applied again, {restored.held} refused by a legal hold"
    )
    if erasures is None:
        errors.print(
            "What was erased after that moment is back. If a later backup exists, restore again with --erasures and "
            "its erasures.jsonl; otherwise erase again what people asked for since.",
            soft_wrap=True,
        )
    errors.print(
        "Keys, members and preferences are as they were then: what was revoked since is valid again. Look at "
        "`afterturn keys list` and `afterturn members` before the service starts.",
        soft_wrap=True,
    )


def _restore(
    folder: Path, manifest: Manifest, settings: Settings, by: str, since: Sequence[ErasureLine], *, quiet: bool
) -> Restored:
    engine = create_catalog_engine(settings.effective_catalog_url, makes_file=False)
    with closing(open_redis(settings)) as redis:
        require_empty_target(manifest, settings, engine, redis)
    restore_catalog(folder, manifest, engine)
    migrate(engine)
    engine.dispose()
    with closing(open_memory(settings)) as context, Progress(console=errors, transient=True, disable=quiet) as bar:
        task = bar.add_task("building the index", total=None)
        return restore_rest(
            folder, manifest, context, by=by, erasures=since, progress=lambda n: bar.update(task, completed=n)
        )


@contextmanager
def _broker(settings: Settings, is_wanted: bool) -> Iterator[None]:
    """Run the embedded broker of this machine's data folder during a block, if that is wanted."""
    with ExitStack() as stack:
        if is_wanted:
            from interfaces.local.broker import embedded_broker

            folder = stack.enter_context(own_data_folder(settings.data_dir))
            stack.enter_context(embedded_broker(settings.broker_url, folder / "broker"))
        yield


def _spooled(settings: Settings) -> Iterator[WaitingTurn]:
    """Yield the turns that wait in the spool of this machine, if there is one."""
    if not settings.effective_spool_dir.exists():
        return
    spool = Spool(settings.effective_spool_dir, max_turns=settings.spool_max_turns, max_bytes=settings.spool_max_bytes)
    with closing(spool):
        for spooled in spool.oldest(settings.spool_max_turns):
            subject = Turn.model_validate_json(spooled.body).subject
            yield WaitingTurn(**subject.model_dump(), turn_id=spooled.turn_id, body=spooled.body)
