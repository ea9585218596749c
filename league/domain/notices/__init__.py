"""Notices: what happens to a player's bots, tables and tournaments, and to what the player follows.

The journal says what happened (`sources`), the scheduler stores a notice for each player concerned (`spreading`), and letters carry those that a
player wants by mail (`letters`).
"""
