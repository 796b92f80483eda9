import django_eventstream
from django.urls import include, path

urlpatterns = [path("events/", include(django_eventstream.urls), {"channels": ["news"]})]
