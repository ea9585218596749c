"""Adapters to other libraries: PettingZoo and Gymnasium environments, and OpenSpiel games.

No other part of the engine imports this package. It needs `numpy` and the adapted library (extra `learn`).
"""
