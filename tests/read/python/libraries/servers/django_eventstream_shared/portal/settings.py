"""Silent: the same with the fan-out through Redis."""

ROOT_URLCONF = "portal.urls"
INSTALLED_APPS = ["django_eventstream"]
EVENTSTREAM_STORAGE_CLASS = "django_eventstream.storage.DjangoModelStorage"
EVENTSTREAM_REDIS = {"host": "redis", "port": 6379}
