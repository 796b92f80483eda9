from django.urls import path

from log.views import LogStream, write

urlpatterns = [path("log", write), path("log/stream", LogStream.as_view())]
