"""Upkeep: reconciling, repair, invariants, metrics."""
