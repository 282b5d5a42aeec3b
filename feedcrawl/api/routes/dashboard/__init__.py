"""Routes that people open in a browser: the dashboard's pages, its login and the API reference."""
