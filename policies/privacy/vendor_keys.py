"""Keys that their issuers have given a shape of their own; the list is data, its source and licence in its head."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

_ROWS: Final = tuple(
    line.split("\t", 1)
    for line in files("policies.privacy").joinpath("vendor_keys.tsv").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
NAMES: Final = tuple(name for name, _ in _ROWS)
SHAPE: Final = re.compile(rf"(?<![A-Za-z0-9])(?P<value>{'|'.join(shape for _, shape in _ROWS)})")
"""A key by the shape that its vendor gives it: `dapi00000000000000000000000000000000`."""
