"""Puzzles for people: decisions with one clearly best choice, and what players made of them."""
