"""A source cut into blocks that another process or machine can read."""
