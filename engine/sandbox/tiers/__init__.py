"""The tiers of isolation, and the choice of the strongest that holds on this machine."""
