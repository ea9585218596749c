"""Tunings: better values of a bot's parameters, searched by workers in pairs of boards, and tested against the start."""
