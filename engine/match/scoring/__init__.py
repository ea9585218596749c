"""Who has won a deal, what it counts, what it pays."""
