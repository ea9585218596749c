"""Bots, their packages, and the bots of the house."""
