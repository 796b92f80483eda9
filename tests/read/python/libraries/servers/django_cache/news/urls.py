from django.urls import path

from . import views

urlpatterns = [path("publish", views.publish), path("feed", views.Feed.as_view())]
