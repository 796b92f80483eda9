from django.urls import path

from shop.views import stream

urlpatterns = [path("orders", stream)]
