"""Weights are read by whichever threads need them first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest

from schema.packaged_arrays import packaged_array, packaged_arrays

_ROOT = Path(str(files("schema"))).parent
_MEET_SECONDS = 0.2


def test_no_two_threads_read_weights_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As CPython 3.11 needs it: of two that read the header of an array at once, one may end in a SystemError."""
    numpys, meeting = np.load, Barrier(2)

    def load(*args: Any, **options: Any) -> Any:
        try:
            meeting.wait(_MEET_SECONDS)
        except BrokenBarrierError:
            return numpys(*args, **options)
        raise AssertionError("two threads read at once")

    monkeypatch.setattr(np, "load", load)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(packaged_array, "stores.embedding", "multilingual_centre.npy")
        other = pool.submit(packaged_arrays, "policies.privacy", "planted_head.npz")
        assert one.result().size
        assert other.result()


@pytest.mark.parametrize("file", sorted(_ROOT.glob("[mps]*/**/*.npz")), ids=lambda file: file.stem)
def test_what_is_read_is_what_numpy_wrote(file: Path) -> None:
    package = ".".join(file.relative_to(_ROOT).parts[:-1]).replace(".data", "")
    name = f"data/{file.name}" if file.parent.name == "data" else file.name
    with np.load(file) as saved:
        written: dict[str, Any] = dict(saved)
    read = packaged_arrays(package, name)
    assert read.keys() == written.keys()
    assert all(np.array_equal(read[key], written[key]) for key in written)
