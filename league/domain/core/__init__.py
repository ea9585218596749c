"""What every part of the domain uses: clock, errors, journal, hints, moves of a status."""
