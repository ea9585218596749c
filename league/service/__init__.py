"""The surroundings of Django: environment of the settings, checks, middleware, static files, the broker of files, texts."""
