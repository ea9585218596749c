"""Upkeep: reconciling, repairs, invariants, dumps, metrics."""
