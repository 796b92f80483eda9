"""Silent: a sequence and a log in DynamoDB, asked again and again by every process."""

import time

import boto3
from boto3.dynamodb.conditions import Key
from flask import Flask, Response, request

table = boto3.resource("dynamodb").Table("events")
app = Flask(__name__)


@app.post("/publish")
def publish():
    answer = table.update_item(
        Key={"topic": "counter"},
        UpdateExpression="ADD seq :one",
        ExpressionAttributeValues={":one": 1},
        ReturnValues="UPDATED_NEW",
    )
    table.put_item(Item={"topic": "news", "seq": answer["Attributes"]["seq"], "text": request.get_data(as_text=True)})
    return "", 204


@app.get("/feed")
def feed():
    last = int(request.headers.get("Last-Event-ID", 0))

    def frames(position):
        while True:
            found = table.query(KeyConditionExpression=Key("topic").eq("news") & Key("seq").gt(position))
            for item in found["Items"]:
                yield f"id: {item['seq']}\ndata: {item['text']}\n\n"
                position = item["seq"]
            time.sleep(1)

    return Response(frames(last), mimetype="text/event-stream")
