"""A saved result made ready to be looked at: numbers, orders, cuts and texts, made once, mapped."""
