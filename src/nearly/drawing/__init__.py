"""Pictures: the curve of a setting, and an evaluation."""
