"""Bots, their packages, and the house bots."""
