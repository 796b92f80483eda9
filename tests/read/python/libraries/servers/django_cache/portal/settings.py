ROOT_URLCONF = "portal.urls"
INSTALLED_APPS = ["news"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://cache"}}
