"""Fires: events are rows of the database, and without EVENTSTREAM_REDIS a process tells its clients only of its own."""

ROOT_URLCONF = "portal.urls"
INSTALLED_APPS = ["django_eventstream"]
EVENTSTREAM_STORAGE_CLASS = "django_eventstream.storage.DjangoModelStorage"
