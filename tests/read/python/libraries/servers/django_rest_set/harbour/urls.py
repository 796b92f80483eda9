from django.urls import include, path
from rest_framework.routers import DefaultRouter

from . import views

router = DefaultRouter()
router.register("ships", views.Ships, basename="ship")
urlpatterns = [path("v1/", include(router.urls))]
