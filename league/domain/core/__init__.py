"""The parts that the whole domain uses: clock, errors, journal, hints, paging, transitions of a status."""
