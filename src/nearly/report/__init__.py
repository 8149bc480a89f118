"""What was found as one HTML file: no script, nothing from elsewhere, the same bytes every time."""
