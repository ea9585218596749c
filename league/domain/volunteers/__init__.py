"""Volunteers: workers that people run at home for work that is neither rated nor secret (docs/volunteers.md)."""
