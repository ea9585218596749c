"""Matches and replays in the API."""
