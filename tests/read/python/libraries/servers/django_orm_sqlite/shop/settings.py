from pathlib import Path

BASE_DIR = Path(__file__).parent
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE_DIR / "shop.sqlite3"}}
ROOT_URLCONF = "shop.urls"
