"""Turns in order of time, each with what became of it, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from textwrap import shorten

from rich.table import Table
from rich.text import Text

from interfaces.cli.why import lines_of
from recall.turn_story import TurnStory, turn_stories
from schema import Subject, Turn
from stores.catalog import Catalog, Outcome

TURNS_TOLD = 40
"""As many as a person reads."""
_SAID_CHARS = 160


def story_table(turns: Sequence[Turn], catalog: Catalog) -> Table:
    """Return a row a turn: when it was said, by whom, and what was remembered, changed or refused because of it."""
    table = Table(title="What was said, and what became of it", title_justify="left", expand=True, show_lines=True)
    table.add_column("when (UTC)", no_wrap=True)
    table.add_column("said", ratio=2)
    table.add_column("what became of it", ratio=3)
    stories = _stories(turns, catalog)
    for turn in sorted(turns, key=lambda turn: turn.occurred_at):
        story = stories.get((turn.subject, turn.turn_id))
        became = Text("\n").join(lines_of(story)) if story else Text("it waits still", style="dim")
        table.add_row(
            f"{turn.occurred_at.astimezone(UTC):%d %b %H:%M}",
            Text(f"{turn.user_name() or turn.user_id}: {_words_of(turn, story)}"),
            became,
        )
    return table


def _stories(turns: Sequence[Turn], catalog: Catalog) -> dict[tuple[Subject, str], TurnStory]:
    stories = {}
    for subject in dict.fromkeys(turn.subject for turn in turns):
        ids = [turn.turn_id for turn in turns if turn.subject == subject]
        stories.update({(subject, id_): story for id_, story in turn_stories(subject, ids, catalog).items()})
    return stories


def _words_of(turn: Turn, story: TurnStory | None) -> str:
    """Return the user's words as they were kept, small talk as it was, and nothing of what must not be kept."""
    kept = story.record.source if story else None
    if kept is None and (story is None or story.record.entry.outcome is not Outcome.SKIPPED):
        return "(not kept)"
    return shorten((kept or turn).text_of("user"), _SAID_CHARS, placeholder=" ...")
