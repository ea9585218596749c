"""The standing ladders: one for each game, played while the queue has nothing else."""
