"""Scoring of a deal: who has won it, its value, its payments."""
