"""Write the page that shows what is kept of a conversation, by the rules and without a language model.

python -m benchmarks.kept_page > docs/reference/what-is-kept.md
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import typer

from policies.admission import admit
from schema import AdmissionAction, Candidate, Context, ForgetRequest, Message, Policy, Turn
from schema.settings import Settings
from stores.embedding import open_utterance_reader
from worker.extract import AdmittedTurn, Extractor, open_extractor

_BEGINS: Final = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
_SAID: Final = (
    ("", "Hey there! How are you?"),
    ("How was your week?", "We adopted a tortoise called Pebble last Saturday. She sleeps under my desk all day."),
    ("What does she eat?", "She mostly eats dandelions, clover and squash from the garden."),
    ("Lovely! Do you have any other pets?", "Yes, two cats"),
    ("Who looks after them when you travel?", "My brother Tom. He lives next door and works nights at the bakery."),
    ("", "What is the boiling point of water?"),
    ("100 degrees Celsius at sea level.", "haha ok, thanks!"),
    ("", "I'm moving to Lisbon next month, and I start a new job at the harbour museum on 4 January."),
    ("Congratulations! What made you choose Lisbon?", "I fell in love with it on a school trip."),
    ("", "Remind me to call the landlord on Friday at 5pm"),
    ("", "Always answer in short sentences, please."),
    ("", "Meine Schwester wohnt in Köln und hat zwei Hunde."),
    ("", "Off the record, I can't stand my new boss."),
    ("", "Forget that I have two cats."),
    ("", "My salary went up:\n```\nSELECT salary FROM staff WHERE name = 'Maya';\n```"),
)  # fmt: skip
"""What the assistant said last, and what Maya says."""
_HEAD: Final = """\
# What is kept

A conversation, and what the rules make of it with no language model. `python -m benchmarks.kept_page` writes this page,
and a test compares it. Everything is said on Saturday 21 November 2026; dates are resolved against that day.

The rules named under "why" are admission's; the ledger keeps them with each turn. "skip" costs no parse and no
model. What is kept is screened and compared with what is known before it becomes a memory.

| the assistant, before | Maya says | kept | why |
| --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page, as Markdown."""
    extractor = open_extractor(Settings(), None, Policy(), open_utterance_reader(Settings()))
    return _HEAD + "".join(_row(extractor, number, before, said) for number, (before, said) in enumerate(_SAID))


def _row(extractor: Extractor, number: int, before: str, said: str) -> str:
    heard = (Message(role="assistant", content=before),) if before else ()
    turn = Turn(
        turn_id=f"t{number}",
        tenant_id="acme",
        user_id="maya",
        conversation_id="c1",
        messages=(*heard, Message(role="user", content=said, name="Maya")),
        occurred_at=_BEGINS + timedelta(minutes=number),
    )
    admission = admit(turn)
    skipped = admission.action is AdmissionAction.SKIP
    items = () if skipped else extractor.extract([AdmittedTurn(turn, admission)], Context()).items
    kept = "<br>".join(_told(item) for item in items) or "nothing"
    why = f"{admission.action}: {', '.join(admission.reasons)}"
    return f"| {_cell(before)} | {_cell(said)} | {_cell(kept)} | {_cell(why)} |\n"


def _told(item: Candidate | ForgetRequest) -> str:
    return f"to forget: {item.what}" if isinstance(item, ForgetRequest) else f"{item.summary} ({item.type})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("_", "\\_")


def main() -> None:
    """Write the page to the standard output."""
    typer.echo(page(), nl=False)


if __name__ == "__main__":
    main()
