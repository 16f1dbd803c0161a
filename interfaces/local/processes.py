"""The worker, beat and the service as child processes: started, started again when they die, stopped together."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schema.errors import OperatorError, Transient

_GRACE_SECONDS = 30.0
_SHORTEST_LIFE = 5.0
_FAST_DEATHS = 3
_TRY_AGAIN, _COULD_NOT_BEGIN = 1, 2
"""The exit codes of a command that may succeed later, and of one that says what to mend first."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0
_PATIENCE_SECONDS = 600.0
"""For how long one that may succeed later is started again: a database comes back from an update in minutes."""
_HELD_SECONDS = 60.0
"""For how long one that has stayed up and now refuses to begin is: what the dead one left may hold its port, or a file,
for as long as it finishes what it has in hand."""


class ProcessKeepsDying(OperatorError):
    """A process of the fleet dies as soon as it starts. The message has the end of its log."""


class ProcessKeepsFailing(Transient):
    """A process of the fleet ends again and again for a reason that may pass. The message has the end of its log."""


@dataclass
class Supervised:
    """A command that is kept running, with its output in a log file."""

    name: str
    command: Sequence[str]
    log: Path
    _process: subprocess.Popen[bytes] | None = None
    _started: float = 0.0
    _fast_deaths: int = field(default=0)
    _failing_since: float = 0.0
    _has_stayed: bool = False
    _start_again_at: float | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for the supervisor: it lets each part finish in order.
                start_new_session=True,
            )
        self._started = time.monotonic()

    def restart_if_dead(self) -> bool:
        """Start the process again if it has died; True if it was. One that could not begin for a reason that may pass
        is started after a pause, longer each time.

        Raises:
            ProcessKeepsDying: it refused to begin, for a minute if it had stayed up before, or died three times in a
                row within seconds of its start.
            ProcessKeepsFailing: it did so for ten minutes, for a reason that may pass.
        """
        if self._process is None or self._process.poll() is None:
            return False
        if self._start_again_at is None:
            self._start_again_at = time.monotonic() + self._pause(self._process.returncode)
        if time.monotonic() < self._start_again_at:
            return False
        self._start_again_at = None
        self.start()
        return True

    def _pause(self, code: int) -> float:
        """Return for how many seconds a process that died is left alone."""
        now = time.monotonic()
        if now - self._started >= _SHORTEST_LIFE:
            self._fast_deaths = 0
            self._has_stayed = True
        else:
            self._failing_since = self._failing_since if self._fast_deaths else self._started
            self._fast_deaths += 1
        may_be_held = self._has_stayed and now - self._failing_since < _HELD_SECONDS
        if code == _COULD_NOT_BEGIN and not may_be_held:
            raise ProcessKeepsDying(f"the {self.name} refuses to begin:\n{self._end_of_log(1)}")
        may_pass = code in (_TRY_AGAIN, _COULD_NOT_BEGIN)
        if self._fast_deaths >= _FAST_DEATHS and not (may_pass and now - self._failing_since < _PATIENCE_SECONDS):
            message = f"the {self.name} does not stay up; the end of {self.log}:\n{self._end_of_log(12)}"
            raise ProcessKeepsFailing(message) if may_pass else ProcessKeepsDying(message)
        if not may_pass or not self._fast_deaths:
            return 0.0
        return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (self._fast_deaths - 1))

    def _end_of_log(self, lines: int) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def stop(self) -> None:
        """Ask it to finish what it has in hand, and wait for that; kill it after the grace period."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def service(logs: Path) -> Supervised:
    """Return the command of the HTTP service, not started yet."""
    command = [sys.executable, "-m", "interfaces.cli", "serve", "--end-with-parent"]
    return Supervised("service", command, logs / "service.log")


def worker_and_beat(logs: Path) -> tuple[Supervised, Supervised]:
    """Return the two commands of the fleet, not started yet."""
    command = [sys.executable, "-m", "interfaces.cli"]
    return (
        Supervised("worker", [*command, "worker", "--end-with-parent"], logs / "worker.log"),
        Supervised("beat", [*command, "beat", "--end-with-parent"], logs / "beat.log"),
    )
