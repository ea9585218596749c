"""Covert channels: how much two bots could tell each other without the referee. Transmitter, receiver, bits."""
