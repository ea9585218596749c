"""Pools, their ratings and leaderboards."""
