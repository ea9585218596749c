"""Matches: made, leased, reported, validated, watched."""
