"""What comes before the first lead: the deal, auctions, who joins."""
