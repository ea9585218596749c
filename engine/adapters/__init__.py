"""The games for other people's programs: PettingZoo environments and OpenSpiel games.

Nothing of the engine imports this package; it needs `numpy` and the library it adapts to (extra `learn`).
"""
