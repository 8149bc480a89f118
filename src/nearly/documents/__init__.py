"""Documents that were read: ids, texts, sizes, keys and sketches, by number."""
