"""What people look at of a result, as data: the report and the web app draw it."""
