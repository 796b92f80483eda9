"""Records of a library's class that have a constructor of their own, which hands on to the library's."""

from __future__ import annotations

import pytest

from sselint.facts import IdKind
from tests.read.python.programs import stream_of

NEWS = """
import uuid
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

app = FastAPI()
kept = []


{item}


@app.post("/news")
async def publish(text: str):
    kept.append(Item(text=text))


@app.get("/news")
async def news():
    async def body():
        for item in kept:
            yield f"id: {{item.id}}\\ndata: {{item.text}}\\n\\n"

    return StreamingResponse(body(), media_type="text/event-stream")
"""
FIELDS = '    id: str = Field(default_factory=lambda: str(uuid.uuid4()))\n    text: str = ""\n'
MARKED = "    def __init__(self, **given):\n        super().__init__(**given)\n        self.text = self.text.strip()\n"
NAMED = '    def __init__(self, text):\n        super().__init__(id="same", text=text)\n'


@pytest.mark.parametrize(
    "item",
    [
        f"class Item(BaseModel):\n{FIELDS}\n{MARKED}",
        f"class Base(BaseModel):\n{FIELDS}\n{MARKED}\n\nclass Item(Base):\n    urgent: bool = False\n",
    ],
)
def test_a_constructor_hands_on_to_the_one_that_fills_the_fields(item: str) -> None:
    """Fields that nobody gives are what their defaults say, whether the class or one above it has the constructor."""
    assert stream_of(NEWS.format(item=item)).ids.kind is IdKind.RANDOM


def test_a_constructor_says_what_a_field_is() -> None:
    """Look-alike: what it hands on is no default, and the class below has no other constructor."""
    item = f"class Base(BaseModel):\n{FIELDS}\n{NAMED}\n\nclass Item(Base):\n    urgent: bool = False\n"
    assert stream_of(NEWS.format(item=item)).ids.kind is not IdKind.RANDOM


def test_a_decorated_class_has_a_constructor_made_for_it() -> None:
    """Look-alike: a record by its decorator gets one of its own, and the one above is not run."""
    item = (
        'class Base:\n    def __init__(self, text):\n        self.id, self.text = "same", text\n\n\n'
        "@dataclass\nclass Item(Base):\n    text: str\n    id: str = str(uuid.uuid4())\n"
    )
    assert stream_of(NEWS.format(item=item)).ids.kind is IdKind.RANDOM
