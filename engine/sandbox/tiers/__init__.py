"""The tiers of isolation: one module for each, which declares its `TIER`, and the choice of the strongest tier that works here."""

STRONGEST_FIRST = ("namespaces", "landlock", "none")
