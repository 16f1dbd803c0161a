"""Let atheris look for a turn that makes admission, extraction or screening raise, hang or write too much.

    python -m tests.fuzz [-max_total_time=60] [CORPUS_DIR]

Takes libFuzzer's options. A finding is written to a file `crash-*`; give that file as the argument to
see it again. A turn that takes longer than `-timeout` seconds is a finding as well.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Final

_LONGEST_TURN: Final = 20_000
_MOST_ITEMS: Final = 50


def _atheris() -> Any:
    try:
        return importlib.import_module("atheris")
    except ImportError:
        sys.exit(
            "atheris is not installed. It has wheels for Linux on x86-64: "
            ".venv/bin/python -m pip install --require-hashes -r locks/fuzz.lock"
        )


def main() -> None:
    atheris = _atheris()
    with ExitStack() as instrumented:
        instrumented.enter_context(atheris.instrument_imports(include=["policies", "worker.extract"]))
        from policies.admission import admit
        from policies.privacy.screen import screen
        from schema import MAX_SUMMARY_CHARS, Candidate, Context, Message, Policy, Turn
        from schema.settings import Settings
        from worker.extract import AdmittedTurn, open_extractor

    policy = Policy()
    extractor = open_extractor(Settings(), None, policy)
    extractor.prepare()

    def one_turn(data: bytes) -> None:
        given = atheris.FuzzedDataProvider(data)
        year = given.ConsumeIntInRange(1, 9999)
        before = given.ConsumeUnicodeNoSurrogates(given.ConsumeIntInRange(0, 400))
        said = given.ConsumeUnicodeNoSurrogates(_LONGEST_TURN)
        turn = Turn(
            turn_id="t",
            tenant_id="t",
            user_id="u",
            conversation_id="c",
            messages=(Message(role="assistant", content=before), Message(role="user", content=said, name="Maya")),
            occurred_at=datetime(year, 12, 31, tzinfo=UTC),
        )
        screen(said, policy)
        items = extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items
        if len(items) > _MOST_ITEMS:
            raise AssertionError("too many memories of one turn")
        if any(isinstance(item, Candidate) and not 0 < len(item.summary) <= MAX_SUMMARY_CHARS for item in items):
            raise AssertionError("a summary is empty or too long")

    atheris.Setup([*sys.argv, "-timeout=10", f"-max_len={_LONGEST_TURN}"], one_turn)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
