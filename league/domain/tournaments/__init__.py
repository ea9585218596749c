"""Tournaments, events of several stages, and circuits: entries, fixtures, standings."""
