"""From a goal, and perhaps a corpus, to settings and what each of them would do."""
