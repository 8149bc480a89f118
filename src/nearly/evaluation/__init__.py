"""What was found, against a labelled truth."""
