"""The facts of each stream: where its ids come from, where a reconnect is answered from, what a foreign cursor gets."""
