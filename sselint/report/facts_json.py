"""`sselint facts --format json`: what was understood of each file, and why. `--facts` reads it back elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sselint import __version__
from sselint.deployment import Audit, Deployment
from sselint.facts import Pool, Route, Stream
from sselint.report.json_items import Json, count_item, evidence_items, guard_item, run_item, stream_name


def facts_document(audit: Audit) -> Json:
    """The facts of an audit, version 1 of the contract (`rules/schema/facts.json`)."""
    return {
        "version": 1,
        "tool": {"name": "sselint", "version": __version__},
        "streams": [_stream(stream) for stream in audit.streams],
        "routes": [_route(route) for route in audit.routes],
        "pools": [_pool(pool) for pool in audit.pools],
        "links": list(_links(audit.deployments)),
        "files": [{"path": f.path, "outcome": f.outcome.value, "why": f.why} for f in audit.files],
    }


def render_facts_json(audit: Audit) -> str:
    """The facts as JSON text."""
    return json.dumps(facts_document(audit), indent=2) + "\n"


def _stream(stream: Stream) -> Json:
    ids, replay, cursor = stream.ids, stream.replay, stream.cursor
    return {
        "path": stream.path,
        "line": stream.line,
        "symbol": stream.symbol,
        "unit": stream.unit,
        "url": stream.url,
        "protocol": stream.protocol,
        "ids": {
            "kind": ids.kind.value,
            "scope": ids.scope.value,
            "why": ids.why,
            "minted": ids.minted.value,
            "reaches_fresh_client": ids.reaches_fresh_client.value,
            "apart": sorted(name.value for name in ids.apart),
            "evidence": evidence_items(ids.evidence),
        },
        "replay": {
            "where": replay.where.value,
            "live_tail": replay.live_tail.value,
            "why": replay.why,
            "ends": replay.ends.value,
            "evicts": replay.evicts.value,
            "disk_path": replay.disk_path,
            "evidence": evidence_items(replay.evidence),
        },
        "cursor": {
            "read": cursor.read.value,
            "how": cursor.how,
            "why": cursor.why,
            "evidence": evidence_items(cursor.evidence),
        },
        "on_foreign": run_item(stream.on_foreign),
        "on_overlap": run_item(stream.on_overlap),
        "on_missing": run_item(stream.on_missing),
        "on_malformed": run_item(stream.on_malformed),
        "guards": [guard_item(guard) for guard in stream.guards],
        "tags_replica": stream.tags_replica.value,
        "apps": [{"module": a.module, "attribute": a.attribute, "path": a.path} for a in stream.apps],
        "deployable": stream.deployable,
        "environment": sorted(stream.environment),
        "evidence": evidence_items(stream.evidence),
    }


def _route(route: Route) -> Json:
    affinity = route.affinity
    return {
        "path": route.path,
        "line": route.line,
        "format": route.format,
        "name": route.name,
        "pool": route.pool,
        "members": count_item(route.members),
        "mechanism": affinity.mechanism,
        "strength": affinity.strength.value,
        "why": affinity.why,
        "row": affinity.row,
        "events": {event.value: meets.value for event, meets in affinity.events},
        "key": {
            "issued_by": affinity.key.issued_by.value,
            "carrier": affinity.key.carrier.value,
            "name": affinity.key.name,
            "lifetime": affinity.key.lifetime,
            "seconds": affinity.key.seconds,
        },
        "undone_by": evidence_items(affinity.undone_by),
        "no_effect": evidence_items(affinity.no_effect),
        "last_event_id": route.last_event_id.value,
        "evidence": evidence_items(route.evidence or affinity.evidence),
    }


def _pool(pool: Pool) -> Json:
    return {
        "path": pool.path,
        "line": pool.line,
        "format": pool.format,
        "kind": pool.kind,
        "name": pool.name,
        "processes": count_item(pool.processes),
        "workers": count_item(pool.workers.processes) if pool.workers else None,
        "rolling": pool.rolling.value,
        "starts": pool.starts,
        "evidence": evidence_items(pool.evidence),
    }


def _links(deployments: Iterable[Deployment]) -> Iterable[Json]:
    """One item a hop: the stream, and the route or pool that was put in front of it."""
    for deployment in deployments:
        for hop in deployment.hops:
            yield {
                "deployment": deployment.name,
                "stream": stream_name(deployment.stream),
                "route": f"{hop.route.path}:{hop.route.name}" if hop.route else None,
                "pool": f"{hop.pool.path}:{hop.pool.name}" if hop.pool else None,
                "why": hop.why,
                "assumed": hop.assumed,
                "evidence": evidence_items(hop.evidence),
            }
