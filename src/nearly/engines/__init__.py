"""Where the pipeline runs: on this machine, or on many."""
