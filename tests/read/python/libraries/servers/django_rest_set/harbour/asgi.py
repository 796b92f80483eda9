"""Fires: one method of a set of views sends what the process counted behind the cursor."""

from django.core.asgi import get_asgi_application

application = get_asgi_application()
