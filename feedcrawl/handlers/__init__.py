"""One module for each kind of task: builds its requests and reads their responses."""
