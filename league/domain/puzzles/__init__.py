"""Puzzles for people: decisions with one clearly best choice, and the answers of players."""
