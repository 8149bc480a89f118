"""Bloom filters: which values were seen, in memory that is fixed beforehand."""
