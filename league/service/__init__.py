"""What the service needs from Django's surroundings: settings' environment, checks, middleware, static files, the broker of files, texts."""
