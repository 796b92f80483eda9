"""The paper run: abstract values, what the language does with them, and every way that a run may take."""
