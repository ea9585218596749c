"""Tables where people play against bots: taking a seat, actions, and the worker that runs the bots."""
