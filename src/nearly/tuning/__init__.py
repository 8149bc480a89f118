"""The mathematics of bands and rows, and what they cost; no data is touched."""
