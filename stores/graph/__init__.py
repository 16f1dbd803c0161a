"""Graphs: entities, facts and sources."""

from __future__ import annotations

from sqlalchemy import Engine

from schema.settings import Settings
from stores.graph.base import Graph, RebuildableGraph, Relation
from stores.graph.sql import SqlGraph

__all__ = ["Graph", "RebuildableGraph", "Relation", "SqlGraph", "open_graph"]


def open_graph(settings: Settings, engine: Engine) -> Graph:
    """Return the graph that the settings name, over the catalog's database.

    Raises:
        CatalogUnavailable: the database has no Apache AGE; the message says what to do.
    """
    match settings.graph:
        case "sql":
            return SqlGraph(engine)
        case "age":
            from stores.graph.age import AgeGraph

            graph = AgeGraph(engine)
            graph.ensure()
            return graph
