"""Measures: how documents become what is compared, one measure per file."""
