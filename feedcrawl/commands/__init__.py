"""Commands of `scrapy`, each with its name, options and help. Scrapy imports every module here for each command; the
work of a command is in `feedcrawl.console`, and is imported when the command runs.
"""
