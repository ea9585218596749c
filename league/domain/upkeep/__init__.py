"""What keeps the league right: reconciling, repair, invariants, metrics."""
