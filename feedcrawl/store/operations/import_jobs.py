"""Progress of imports of long lists of feeds, which any process of the API can read."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.operations.import_jobs import ImportJob
from feedcrawl.store.redis import keys

if TYPE_CHECKING:
    from feedcrawl.store.redis.client import Client

LIFE_SEC: Final = 86_400
_TIMES: Final = ("created_at", "updated_at")


class ImportJobs:
    """Import jobs by id, each kept for a day after its last step. Methods may raise StoreUnavailable."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def save(self, job: ImportJob) -> None:
        """Stores a job."""
        values: dict[str, object] = {field.name: getattr(job, field.name) for field in fields(job)}
        text = json.dumps(values, separators=(",", ":"), default=datetime.isoformat)
        self._client.set(keys.import_job(job.id), text, ex=LIFE_SEC)

    def find(self, job_id: str) -> ImportJob | None:
        """The job of this id; None if unknown or expired."""
        text = self._client.get(keys.import_job(job_id))
        if not text:
            return None
        values = json.loads(text)
        times = {name: datetime.fromisoformat(values[name]) for name in _TIMES}
        return ImportJob(**values | times | {"refused": tuple(values["refused"])})
