"""Arrays of numbers that come in our packages: the weights of heads and readers, and prototypes.

One at a time: numpy reads the header of an array with Python's parser of literals, and that of CPython 3.11 counts how
deep it is for all threads together. Two that read at once end in "SystemError: AST constructor recursion depth
mismatch", and first turns come on many threads at once.
"""

from __future__ import annotations

from importlib.resources import files
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

_reading = Lock()


def packaged_arrays(package: str, name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file in the folder of a package, by their names."""
    with _reading, _file(package, name) as file, np.load(file, allow_pickle=False) as saved:  # noqa: TID251
        return dict(saved)


def packaged_array(package: str, name: str) -> NDArray[Any]:
    """Return the array of an .npy file in the folder of a package."""
    with _reading, _file(package, name) as file:
        array: NDArray[Any] = np.load(file, allow_pickle=False)  # noqa: TID251
        return array


def _file(package: str, name: str) -> Any:
    return files(package).joinpath(name).open("rb")
