"""The rule lab: variants of games, the facts of each sitting, and the report of many boards with intervals."""
