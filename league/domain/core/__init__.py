"""The parts that the whole domain uses: clock, errors, journal, hints, paging, status transitions."""
