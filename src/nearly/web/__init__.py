"""The web app: a route makes one library call, and shows what comes of it as a page or as JSON."""
