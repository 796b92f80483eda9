ROOT_URLCONF = "portal.urls"
INSTALLED_APPS = ["news"]
