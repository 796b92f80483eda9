"""The vocabulary that all readers speak. It imports nothing of the house.

Three things run through every fact:

* **evidence**: spans in the audited tree, the first primary, the others in the order a reader should follow
  ("made here", "stored here", "put on the wire here");
* **three values**: yes, no, or unknown *because ...*. An unknown is never reported as bad with confidence and never
  silently taken as good;
* **why**: one sentence in the reader's own names, without a full stop.
"""

from __future__ import annotations

from sselint.facts.place import Answer as Answer
from sselint.facts.place import Evidence as Evidence
from sselint.facts.place import Span as Span
from sselint.facts.place import Truth as Truth
from sselint.facts.pool import Pool as Pool
from sselint.facts.pool import Rolling as Rolling
from sselint.facts.pool import Setting as Setting
from sselint.facts.pool import Volume as Volume
from sselint.facts.reading import ClientSighting as ClientSighting
from sselint.facts.reading import FileOutcome as FileOutcome
from sselint.facts.reading import FileReport as FileReport
from sselint.facts.reading import Reading as Reading
from sselint.facts.route import Affinity as Affinity
from sselint.facts.route import Count as Count
from sselint.facts.route import CursorTreatment as CursorTreatment
from sselint.facts.route import KeyCarrier as KeyCarrier
from sselint.facts.route import KeyIssuer as KeyIssuer
from sselint.facts.route import Match as Match
from sselint.facts.route import Meets as Meets
from sselint.facts.route import Observation as Observation
from sselint.facts.route import Route as Route
from sselint.facts.route import RoutingEvent as RoutingEvent
from sselint.facts.route import RoutingKey as RoutingKey
from sselint.facts.route import Strength as Strength
from sselint.facts.route import Target as Target
from sselint.facts.stream import AppReference as AppReference
from sselint.facts.stream import Cursor as Cursor
from sselint.facts.stream import Guard as Guard
from sselint.facts.stream import IdKind as IdKind
from sselint.facts.stream import IdSource as IdSource
from sselint.facts.stream import KeyOrigin as KeyOrigin
from sselint.facts.stream import Minted as Minted
from sselint.facts.stream import Name as Name
from sselint.facts.stream import Outcome as Outcome
from sselint.facts.stream import Replay as Replay
from sselint.facts.stream import Run as Run
from sselint.facts.stream import Scope as Scope
from sselint.facts.stream import Stream as Stream
from sselint.facts.stream import Where as Where
