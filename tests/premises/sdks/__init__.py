"""Servers on the MCP SDK, FastMCP and django-eventstream; the tests start each of them as two processes."""
