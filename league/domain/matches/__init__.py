"""Matches: created, leased, reported, validated and shown."""
