"""Ratings to download."""
