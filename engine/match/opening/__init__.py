"""The opening of a deal, up to the first lead: dealing, auctions, who joins."""
