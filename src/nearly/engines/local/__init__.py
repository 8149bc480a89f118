"""One machine, all its cores: stages run in threads, for the kernels release the lock."""
