"""Random playouts without a driver: `playout` for search, `play_many` for statistics."""

from engine.search.playouts.running import play_many, playout

__all__ = ["play_many", "playout"]
