"""One module for each kind of thing that the API serves, each with a `router`."""
