"""Alembic's entry: runs the migrations on the connection that `stores.catalog.revisions` hands over."""

from alembic import context

from stores.catalog.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
context.run_migrations()
