"""One pure function a file: Arrow batch and settings in, Arrow batch out, on every engine."""
