"""The collection that the index makes in Weaviate."""

from __future__ import annotations

import json
from typing import Any

from stores.index.snapshot import LABELS

DOCUMENT = "document"
"""The entry whole but for its vector, as JSON; nothing is filtered by it."""


def definition(name: str, dimensions: int, model: str) -> dict[str, Any]:
    """Return the collection, in the server's own words: a tenant for each subject, made when it is first written; one
    vector without a name, compared with all others of its tenant, and as it was given."""
    return {
        "class": name,
        "description": json.dumps({"dimensions": dimensions, "model": model}),
        "vectorizer": "none",
        "vectorIndexType": "flat",
        # Unit vectors: their dot product is their cosine.
        "vectorIndexConfig": {"distance": "dot", "skipDefaultQuantization": True},
        "multiTenancyConfig": {"enabled": True, "autoTenantCreation": True, "autoTenantActivation": True},
        "properties": [
            {
                "name": DOCUMENT,
                "dataType": ["text"],
                "tokenization": "field",
                "indexFilterable": False,
                "indexSearchable": False,
            },
            *(_text(field, "text") for field in LABELS),
            _text("tags", "text[]"),
            {
                "name": "created_at",
                "dataType": ["int"],
                "indexFilterable": True,
                "indexSearchable": False,
                "indexRangeFilters": True,
            },
        ],
    }


def _text(name: str, type_: str) -> dict[str, Any]:
    return {
        "name": name,
        "dataType": [type_],
        "tokenization": "field",
        "indexFilterable": True,
        "indexSearchable": False,
    }
