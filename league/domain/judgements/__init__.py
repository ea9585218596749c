"""Analyses (`Judgement`) of finished matches: the points that each decision gave away, computed on request while no match is queued."""
