"""Tables at which people sit: who sits down, what they do, and which worker has the bots meanwhile."""
