"""One file a page: what is asked for, the library call, and the markup."""
