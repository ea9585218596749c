"""The environment of Django: settings, system checks, middleware, static files, the file broker, text catalogues."""
