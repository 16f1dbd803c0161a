"""The newest revision of the tables that this version knows."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SCRIPTS: Final = Path(__file__).parent / "migrations"
HEAD: Final = max(path.name[:4] for path in (SCRIPTS / "versions").glob("[0-9]*.py"))
"""The newest revision in `migrations/versions`, whose files are named by theirs. A migration only adds, so that
workers of the version before can go on, and start again, while an update rolls; what nobody needs any more goes by
itself (`contractions`)."""
