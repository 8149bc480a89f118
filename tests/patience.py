"""How long a test waits for what must happen: a hang is found, a slow machine is none."""

PATIENCE = 300  # seconds
