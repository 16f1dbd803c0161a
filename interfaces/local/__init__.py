"""The whole fleet on one machine, with nothing installed but this package."""
