"""Bots of the league: what their authors import, the house bots, kits in other languages."""
