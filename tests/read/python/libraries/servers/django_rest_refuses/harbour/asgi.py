"""Silent: random ids; the method that a set of views is told to answer with refuses an unknown one."""

from django.core.asgi import get_asgi_application

application = get_asgi_application()
