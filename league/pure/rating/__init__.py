"""Strengths, intervals and standings from the results of boards."""
