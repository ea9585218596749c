"""Pools, the fit of their ratings, and what is shown of it."""
