"""Judgements: what the decisions of a finished match gave away, worked out on demand where nothing else waits."""
