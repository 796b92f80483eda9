import os

from aiohttp import web

from .app import make_app

if __name__ == "__main__":
    web.run_app(make_app(), port=int(os.getenv("PORT", "8000")))
