"""Servers that refuse a cursor at three places: `/handler` before there is a response, `/unsent` when the response is
made and nothing of the body is sent, `/sent` after a first piece of it. The refusal is the framework's own 409."""
