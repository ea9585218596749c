"""The standing ladders: one for each game. Their matches are played while the queue is otherwise empty."""
