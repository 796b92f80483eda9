from django.urls import path

from . import views

urlpatterns = [path("ships", views.Ships.as_view({"get": "follow", "post": "enter"}))]
