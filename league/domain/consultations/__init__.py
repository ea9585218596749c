"""Consultations: on request a house bot says what it would have done at the decisions of one seat."""
