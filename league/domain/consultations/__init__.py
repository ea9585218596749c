"""Consultations: what a bot of the house would have done at the decisions of a seat, played on demand where nothing else waits."""
