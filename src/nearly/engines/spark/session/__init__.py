"""The session that a run uses, and what goes wrong in it."""
