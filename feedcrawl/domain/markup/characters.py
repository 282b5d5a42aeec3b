"""Characters that markup cannot contain."""

from __future__ import annotations

import re
from typing import Final

NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that no XML document may contain (XML 1.0 section 2.2)."""
