"""Mutation testing: break one place of the code at a time and see whether a test notices. `make mutate` runs it (docs/testing.md)."""
