"""The work of a worker: what it leases, runs and reports, with a handler for each kind."""
