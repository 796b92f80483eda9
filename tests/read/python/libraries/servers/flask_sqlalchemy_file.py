"""Fires: the configuration names a file, and each machine has its own."""

import time

from flask import Flask, Response, request
from flask_sqlalchemy import SQLAlchemy

app = Flask(__name__)
app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite:////srv/shop.sqlite3"
db = SQLAlchemy(app)


class Sale(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    item = db.Column(db.String)


@app.get("/sales")
def sales():
    last = int(request.headers.get("Last-Event-ID", 0))

    def rows():
        after = last
        while True:
            for sale in db.session.scalars(db.select(Sale).where(Sale.id > after)):
                after = sale.id
                yield f"id: {sale.id}\ndata: {sale.item}\n\n"
            time.sleep(1)

    return Response(rows(), mimetype="text/event-stream")
