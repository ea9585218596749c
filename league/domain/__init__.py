"""The decisions of the league. Only this package changes rows; its functions take the time as an argument."""
