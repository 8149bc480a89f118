"""The stages: one pure function a file, from an Arrow array or batch to the next."""
