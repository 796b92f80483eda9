"""What the names of libraries mean to a run, as `rules/python/` says: calls, requests, settings, frames on the wire."""
