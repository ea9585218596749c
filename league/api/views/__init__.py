"""The endpoints, by subject. Reads are query sets; writes call `league.domain`."""
