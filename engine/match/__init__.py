"""The course of a match: what is known, what comes next, and the one door to change it."""
