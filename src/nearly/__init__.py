"""nearly finds what is nearly the same."""
