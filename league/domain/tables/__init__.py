"""Tables where people play against bots: seating, actions, and the worker that holds the bots."""
