"""The work of a worker: leasing, running and reporting jobs, with a handler for each kind."""
