"""Embed the examples of attributes with the embedders that are built in: `memory/attribute_prototypes.npz`.

    python -m benchmarks.embed_prototypes

Ten seconds. To be run when `policies/language/attributes.toml` or a built-in embedder changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from memory.attributes import entry_of
from policies.language.attributes import Prototypes
from stores.embedding.minilm import MiniLM
from stores.embedding.multilingual import MultilingualE5

FILE: Final = Path(__file__).parent.parent / "memory" / "attribute_prototypes.npz"


def main() -> None:
    """Write the vectors of all examples by each embedder's name."""
    arrays: dict[str, Any] = {
        entry_of(embedder.name): embedder.embed(Prototypes.texts()) for embedder in (MiniLM(), MultilingualE5())
    }
    np.savez_compressed(FILE, **arrays)
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB, {len(arrays)} embedders")


if __name__ == "__main__":
    main()
