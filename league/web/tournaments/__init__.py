"""Pages of tournaments, events and circuits."""
