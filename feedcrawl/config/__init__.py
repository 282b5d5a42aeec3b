"""Every setting of this project, declared once, in the module of its topic.

Each field is the setting `FEEDCRAWL_` + its name in upper case. Scrapy's settings (`settings.py`), the checks at start
and the tables of docs/settings.md are made from these declarations.
"""

from feedcrawl.config.checked import Config, Settings, check, own_settings
from feedcrawl.domain.errors import ConfigError

__all__ = ["Config", "ConfigError", "Settings", "check", "own_settings"]
