"""The server on paper: what start-up leaves behind, which endpoints there are, and what serving a request does."""
