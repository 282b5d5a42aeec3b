"""One module for each resource of the API, each with a `router`."""
