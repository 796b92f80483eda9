"""Reads Python server source, on libcst."""
