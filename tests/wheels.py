"""Builds wheels and sdists, installs them on every Python from 3.11 that is on the PATH, and runs them elsewhere.

    python -m tests.wheels

On each: `producers` with nothing but the base, and that `afterturn` says what is missing; the fleet with its extras,
fed with our own conversation from a folder that is not the checkout; and mypy on a small backend that enqueues. Of the
Python client: that it is imported, and mypy on the ten lines of its page. A Python that no run of this has seen is no
classifier of ours.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.e2e.pages import Page
from tests.supply_chain import VENDORED

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "clients" / "python"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_UV = Path(sys.executable).with_name("uv")
_EXTRAS = "fleet,local,service"
_BACKEND = """
from producers import Accepted, enqueue


def after_response(user: str, said: str) -> Accepted:
    return enqueue(user_id=user, messages=[{"role": "user", "content": said}])
"""


_MODEL = """
async def ask_model(system: str, user: str) -> str:
    return system + user
"""


def main() -> None:
    """Print a line a Python and kind of package; exit with 1 where one does not work."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trials: dict[Path, Callable[[str, Path, Path], None]] = {}
        for source, try_out in ((ROOT, _try_out), (CLIENT, _try_out_client)):
            built = folder / f"dist of {source.name}"
            _run(sys.executable, "-m", "hatchling", "build", "-d", str(built), cwd=source)
            trials |= dict.fromkeys(sorted(built.iterdir()), try_out)
        failed = [line for line in _lines(folder, trials) if "failed" in line]
    sys.exit(1 if failed else 0)


def _lines(folder: Path, trials: dict[Path, Callable[[str, Path, Path], None]]) -> Iterator[str]:
    for python in PYTHONS:
        found = _python(python)
        if found is None:
            print(f"{python}: skipped, no such Python on the PATH", flush=True)
            continue
        for package, try_out in trials.items():
            try:
                try_out(found, package, folder / f"{python}-{package.name}")
                line = f"{python}: {package.name} works"
            except subprocess.CalledProcessError as error:
                line = f"{python}: {package.name} failed: {' '.join(map(str, error.cmd))}\n{error.stdout}{error.stderr}"
            print(line, flush=True)
            yield line


def _python(version: str) -> str | None:
    """Return a Python of this version; pyenv's shims are asked for theirs, whichever is the machine's own."""
    asks = "import sys; print(sys.executable, '{}.{}'.format(*sys.version_info))"
    for name in (f"python{version}", "python3"):
        path = shutil.which(name)
        if path is None:
            continue
        environment = os.environ | {"PYENV_VERSION": version}
        said = subprocess.run([path, "-c", asks], env=environment, capture_output=True, text=True, check=False)
        executable, _, found = said.stdout.strip().rpartition(" ")
        if said.returncode == 0 and found == version:
            return executable
    return None


def _try_out(python: str, package: Path, folder: Path) -> None:
    base = _environment(python, folder / "base", str(package))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    _run(base, "-c", "import producers", cwd=elsewhere)
    said = subprocess.run([base.with_name("afterturn")], cwd=elsewhere, capture_output=True, text=True, check=False)
    _require(said.returncode == 2 and "afterturn[fleet" in said.stderr, said)
    fleet = _environment(python, folder / "fleet", f"{package}[{_EXTRAS}]")
    static = {name for one in VENDORED for name in (*one.files, f"{one.name}-{one.version}.LICENSE.txt")}
    _run(
        fleet,
        "-c",
        f"import interfaces.http.pages as p, os; assert {static} < {{*os.listdir(p.__path__[0] + '/static')}}",
    )
    environment = os.environ | {"AFTERTURN_HTTP_PORT": "0", "AFTERTURN_BROKER_URL": "redis://127.0.0.1:6397/0"}
    told = subprocess.run(
        [fleet.with_name("afterturn"), "run", "--once"],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    _require(told.returncode == 0 and "24 of 24 processed" in told.stdout, told)
    _check_types(fleet, _BACKEND, elsewhere)


def _try_out_client(python: str, package: Path, folder: Path) -> None:
    alone = _environment(python, folder / "alone", str(package))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    licence = "[one.read_text() for one in m.files('afterturn-client') if one.name == 'LICENSE'][0]"
    _run(alone, "-c", f"import afterturn_client, importlib.metadata as m; assert 'Apache' in {licence}", cwd=elsewhere)
    backend = _environment(python, folder / "backend", str(package), "fastapi")
    _check_types(backend, _MODEL + Page("add-memory-to-a-chat-backend").code("FastAPI()"), elsewhere)


def _check_types(python: Path, backend: str, folder: Path) -> None:
    (folder / "backend.py").write_text(backend)
    mypy = Path(sys.executable).with_name("mypy")
    _run(str(mypy), "--strict", "--python-executable", str(python), "backend.py", cwd=folder)


def _environment(python: str, folder: Path, *packages: str) -> Path:
    """Return the Python of a new environment with a package of ours, its dependencies held to the lock file."""
    _run(str(_UV), "venv", "--quiet", "--python", python, str(folder))
    _run(
        *(str(_UV), "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")),
        *("-c", str(ROOT / "requirements-run.lock"), *packages),
    )
    return folder / "bin" / "python"


def _require(holds: bool, done: subprocess.CompletedProcess[str]) -> None:
    if not holds:
        raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=True)


if __name__ == "__main__":
    main()
