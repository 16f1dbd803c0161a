"""Property tests look for broken promises, not for slow machines: no deadline an example."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
