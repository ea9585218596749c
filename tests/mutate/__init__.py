"""Mutation testing: break one place of the code at a time and see whether a test notices. `make mutate` runs it (docs/testing.md).

mutmut 3.8 does not do this job: it breaks only functions, in a process that has loaded all modules, so a fault in a game's declaration, in a table
made at import or in a cached value has no effect and counts as missed (`tuple(None)` in `league/pure/pairing/neighbours.py`). cosmic-ray breaks any
place, but runs one fixed command of tests for each, and all tests of `league/domain` take minutes.
"""
