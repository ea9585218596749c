"""Analyses (judgements) of finished matches: the points that each decision gave away, computed on request where nothing else waits."""
