"""Scrapy's chains of components, which await only what has to be awaited.

Scrapy makes a coroutine of the result of each method of each middleware and pipeline, a task for each receiver of a
signal, two for the output of a callback, and four generators for each spider middleware. Order, results, errors and log
lines are Scrapy's.
"""
