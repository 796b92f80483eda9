import os

from flask import Flask

from .models import db


def create_app():
    app = Flask(__name__)
    app.config["SQLALCHEMY_DATABASE_URI"] = "mysql+pymysql://chat@db/chat"
    db.init_app(app)

    from .routes import bp

    app.register_blueprint(bp)
    return app
