"""The league: bots play matches, are rated and meet in tournaments; pages and API show it."""
