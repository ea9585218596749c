"""Bots and versions in the API."""
