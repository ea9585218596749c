"""Consultations: a house bot is asked, on request, what it would have done at the decisions of a seat."""
