"""Real servers and processes for tests: PostgreSQL, Redis, Chromium, and the league's own process set."""
