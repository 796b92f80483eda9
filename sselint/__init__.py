"""sselint: finds the streaming deployments in which a resumed stream continues as somebody else's."""

__version__ = "0.1.0"
