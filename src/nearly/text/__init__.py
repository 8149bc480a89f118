"""Two texts beside each other: where they differ, as data that anybody may draw."""
