DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "shop"}}
ROOT_URLCONF = "shop.urls"
