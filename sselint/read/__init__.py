"""Readers: one a language, text in, facts out, no judgement. They do not know each other."""
