"""For scrapyd-deploy, which builds an egg through this file; everything else stands in pyproject.toml."""

from setuptools import setup

setup()
