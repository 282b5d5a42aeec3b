"""Commands about stored records and the raw archive: export, replay, fixtures."""
