"""The tiers of isolation: one module each, which declares its `TIER`, and the choice of the strongest that works here."""

STRONGEST_FIRST = ("namespaces", "landlock", "none")
