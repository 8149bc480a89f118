"""Streams of any length: what is new in them, in memory that is fixed beforehand."""
