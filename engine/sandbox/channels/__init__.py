"""What two bots could tell each other past the referee, and how much of it: transmitter, receiver, bits."""
