"""What the league does. Only functions of this package change rows; they take the time as an argument."""
