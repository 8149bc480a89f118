"""A lasting index: documents that were signed, named on disk, and asked."""
