"""Tournaments, events and circuits in the API."""
