"""What is kept, in Redis and on disk: one module per thing kept."""
