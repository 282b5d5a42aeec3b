"""The dashboard: its templates, and the routes that show them."""
