from __future__ import annotations

from quart import Quart


def create_app() -> Quart:
    app = Quart(__name__)
    app.config.from_prefixed_env()

    from .broker import Broker
    from .views import blueprint

    app.broker = Broker()
    app.register_blueprint(blueprint, url_prefix="/api")
    return app
