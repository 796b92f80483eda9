import json
import time

from flask import Blueprint, Response, request, stream_with_context

from .models import Message, db

bp = Blueprint("chat", __name__)


@bp.post("/rooms/<room>")
def post(room):
    message = Message(room=room, text=request.json["text"])
    db.session.add(message)
    db.session.commit()
    return {"id": message.id}, 201


@bp.get("/rooms/<room>/events")
def events(room):
    last_id = request.headers.get("Last-Event-ID", 0, type=int)

    def generate():
        nonlocal last_id
        while True:
            messages = (
                Message.query.filter(Message.room == room, Message.id > last_id).order_by(Message.id).limit(50).all()
            )
            for message in messages:
                last_id = message.id
                yield f"id: {message.id}\nevent: message\ndata: {json.dumps(message.text)}\n\n"
            db.session.rollback()
            time.sleep(1)

    return Response(stream_with_context(generate()), mimetype="text/event-stream")
