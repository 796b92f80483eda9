"""Stores outside the process: what is put in, what is asked for, and whether an answer is one entry or a range."""
