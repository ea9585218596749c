"""Bots that attack, and what must come of it."""
