"""The decisions of the league. Only this package changes rows; its functions take the current time as an argument."""
