"""The work of the commands, by topic: a module here is imported only when its command runs."""
