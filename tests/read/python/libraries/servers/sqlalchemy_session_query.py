"""Silent: the older style, `session.query`, with a scoped session and a declarative base."""

import time

from flask import Flask, Response, request
from sqlalchemy import Column, Integer, Text, create_engine
from sqlalchemy.orm import declarative_base, scoped_session, sessionmaker

engine = create_engine("postgresql://db/events")
Session = scoped_session(sessionmaker(bind=engine))
Base = declarative_base()
app = Flask(__name__)


class Event(Base):
    __tablename__ = "events"
    id = Column(Integer, primary_key=True)
    body = Column(Text)


@app.post("/publish")
def publish():
    session = Session()
    session.add(Event(body=request.get_data(as_text=True)))
    session.commit()
    return "", 204


@app.get("/feed")
def feed():
    last = int(request.headers.get("Last-Event-ID", 0))

    def frames(position):
        while True:
            session = Session()
            for event in session.query(Event).filter(Event.id > position).order_by(Event.id).all():
                yield f"id: {event.id}\ndata: {event.body}\n\n"
                position = event.id
            session.close()
            time.sleep(1)

    return Response(frames(last), mimetype="text/event-stream")
