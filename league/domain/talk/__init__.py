"""Talk: comments of players at a step of a replay, at a puzzle and under a tournament, and the reports about them."""
