"""Arenas for people: entering and waiting (`arenas`), and the scheduler that pairs, pauses and counts (`playing`)."""
