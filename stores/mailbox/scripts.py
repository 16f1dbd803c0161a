"""The mailbox's moves: Lua scripts in `stores/mailbox/lua`, and the keys that they work on.

What lies under each key: `lua/common.lua`, and `docs/reference/redis-keys.md` for operators. The names of the keys are
older than the words of the code; they stay, so that workers of two versions can share a Redis.
"""

from __future__ import annotations

from pathlib import Path

from stores.lua import load_lua

PREFIX = "afterturn:mailbox:"
PENDING_SUBJECTS = f"{PREFIX}dirty"
OLDEST_TURNS = f"{PREFIX}heads"
WAIT_QUEUES = f"{PREFIX}lines"
PENDING_TURNS = f"{PREFIX}pending"
OVER_QUOTA = f"{PREFIX}over"
SHARED_KEYS = (PENDING_SUBJECTS, OLDEST_TURNS, WAIT_QUEUES, PENDING_TURNS, OVER_QUOTA)
SUBJECT_PARTS = (
    *("order", "turns", "deliveries", "failures", "done"),
    *("lease", "fence", "retry", "minute", "contents", "enqueued"),
)

_FOLDER = Path(__file__).parent / "lua"
_LIBRARY = "common"

SCRIPTS = {
    path.stem: load_lua(_FOLDER, _LIBRARY, path.stem) for path in sorted(_FOLDER.glob("*.lua")) if path.stem != _LIBRARY
}
"""Every script by the name of its move."""
