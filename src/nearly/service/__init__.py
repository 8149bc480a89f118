"""The service: a route makes one call of the index, and gives what comes of it as JSON."""
