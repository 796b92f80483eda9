"""Silent: rows of the database that the application's configuration names."""

import time

from flask import Flask, Response, request
from flask_sqlalchemy import SQLAlchemy

app = Flask(__name__)
app.config["SQLALCHEMY_DATABASE_URI"] = "postgresql://shop@db/shop"
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
            for sale in Sale.query.filter(Sale.id > after).order_by(Sale.id).all():
                after = sale.id
                yield f"id: {sale.id}\ndata: {sale.item}\n\n"
            time.sleep(1)

    return Response(rows(), mimetype="text/event-stream")
