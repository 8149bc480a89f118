"""Pieces that documents share: where they stand, and how alike they are."""
