"""The parts that the whole domain uses: clock, errors, journal, hints, transitions of a status."""
