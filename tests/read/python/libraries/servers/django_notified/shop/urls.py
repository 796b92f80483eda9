from django.urls import path

from shop.views import order, stream

urlpatterns = [path("orders", stream), path("order", order)]
