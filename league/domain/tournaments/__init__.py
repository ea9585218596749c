"""Tournaments, events of several stages, circuits: entries, fixtures, standings."""
