"""The kinds of files and objects that can be read, one per file."""
