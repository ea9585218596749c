"""Games, pools and ratings in the API."""
