"""Covert channels: how many bits two bots could send each other past the referee. Transmitters, receivers, estimates."""
