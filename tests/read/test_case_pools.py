"""The processes of every deployment under tests/cases and tests/executed, as a person counts them in its files.

One line a pool: how many members, what a release does, and the workers behind each member's socket. `-` is a deployment
whose files say how it is reached and not what runs (a balancer's configuration alone).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sselint.facts import Pool
from sselint.find import CONFIG_READERS, find, reader

TESTS = Path(__file__).parent.parent

COUNTED = """
cases/01_mcp_stateful_no_store_rr                      Deployment app: 2 surge_default
cases/02_mcp_stateful_local_store_workers              process type web: 1 replaced x 4
cases/03_mcp_direct_transport_local_store              Deployment app: 3 surge_default
cases/04_mcp_stateless_inert_store                     Deployment app: 6 surge_default
cases/06_mcp_session_adoption_counter                  Deployment app: 2 surge_default
cases/08_unknown_id_replays_history                    Deployment app: 3 surge_default
cases/09_full_transcript_no_ids                        Deployment app: 2 surge_default
cases/11_epoch_prefixed_ids                            Deployment app: 3 surge_default
cases/13_shared_sequence_and_log                       Deployment app: 3 surge_default
cases/14_redis_streams_xadd                            Deployment app: 4 surge_default
cases/15_postgres_event_table                          Deployment app: 5 surge_default
cases/17_eventstream_redis_no_ids                      Deployment app: 3 surge_default
cases/18_flask_sse_ids_no_history                      process type web: 1 replaced x 4
cases/19_gunicorn_local_queues_no_ids                  gunicorn workers: 4 unknown
cases/21_run_log_404_guard                             Deployment app: 2 surge_default
cases/23_sqlite_shared_by_workers                      service gateway: 1 replaced x 4
cases/25_startup_guard_workers                         container of Dockerfile: 1 replaced
cases/27_nginx_ip_hash                                 -
cases/28_ingress_cookie_balanced                       Deployment feed: 2..10 unknown
cases/29_haproxy_cookie_redispatch                     -
cases/30_haproxy_pinned_fail_closed                    -
cases/32_envoy_stateful_session_strict                 Deployment app: 3 surge_default
cases/33_alb_lb_cookie_mcp_clients                     ECS service mcp: 2 surge_default
cases/34_stateless_rollout                             Deployment app: 8 surge_default
cases/36_incr_ids_pubsub_only                          Deployment app: 3 surge_default
cases/37_proxy_strips_last_event_id                    -
cases/38_client_recreates_stream                       Deployment app: 2 surge_default
cases/39_stop_with_204                                 Deployment app: 2 surge_default
cases/41_single_replica_rolling_update                 Deployment feed: 1 surge_written
cases/43_timestamp_ids_local_buffer                    Deployment app: 3 surge_default
cases/47_event_id_only_telemetry                       Deployment app: 3 surge_default
cases/49_guard_key_chosen_by_client                    Deployment app: 2 surge_default
cases/50_single_replica_default_strategy               Deployment feed: 1 surge_default
cases/51_client_in_tree_is_no_proof                    Deployment app: 2 surge_default
cases/52_envoy_strict_but_key_expires                  Deployment app: 3 surge_default
executed/01_starlette_journal_in_memory                service newsroom: 1 replaced x 4
executed/02_starlette_journal_in_redis                 service newsroom: 1 replaced x 4
executed/03_fastapi_dependency_refuses                 Deployment timeline: 2 surge_default
executed/04_fastapi_generator_refuses                  Deployment timeline: 2 surge_default
executed/05_flask_feed_unknown_raises                  gunicorn workers: 3 unknown
executed/06_flask_feed_unknown_warns                   gunicorn workers: 3 unknown
executed/09_aiohttp_xadd_returned_id                   Deployment till-ledger: 4 surge_default
executed/10_aiohttp_xadd_own_number_on_wire            Deployment till-ledger: 4 surge_default
executed/11_aiohttp_xadd_explicit_id_retried           Deployment till-ledger: 4 surge_default
executed/14_starlette_stale_cursor_is_410              StatefulSet telemetry: 2 replaced
executed/15_starlette_stale_cursor_is_empty_200        StatefulSet telemetry: 2 replaced
executed/18_sanic_counter_strict_409                   container of Dockerfile: 1 replaced x 4
executed/19_sanic_uuid_strict_409                      container of Dockerfile: 1 replaced x 4
executed/20_asgi_clock_ids_exact_or_204                process type web: 1 replaced
executed/21_asgi_clock_ids_compared                    process type web: 1 replaced
executed/24_fastapi_live_frames_carry_ids              Deployment deploys: 2..6 surge_default
executed/25_fastapi_ids_only_when_replayed             Deployment deploys: 2..6 surge_default
executed/26_starlette_middleware_refuses_cursor        service relay: 1 replaced x 2
executed/27_starlette_middleware_drops_cursor          service relay: 1 replaced x 2
executed/30_mcp_unknown_session_reported               Deployment walks: 3 surge_default
executed/31_mcp_unknown_session_taken_over             Deployment walks: 3 surge_default
executed/36_fastapi_backend_env_on_another_container   Deployment shipments: 2 surge_default
executed/37_fastapi_backend_env_on_the_server          Deployment shipments: 2 surge_default
executed/42_flask_course_from_file                     service course-1: 1 replaced, service course-2: 1 replaced
executed/43_flask_course_grows                         service course-1: 1 replaced, service course-2: 1 replaced
executed/47_sanic_refuses_before_first_send            service queue: 1 replaced x 2
executed/48_sanic_refuses_after_first_send             service queue: 1 replaced x 2
executed/53_fastapi_shared_replay_local_live           Deployment orders: 3 surge_default
executed/54_fastapi_shared_replay_shared_live          Deployment orders: 3 surge_default
executed/55_fastapi_shared_replay_then_close           Deployment orders: 3 surge_default
executed/60_mcp_taken_over_without_log                 Deployment walks: 3 surge_default
executed/67_fastapi_live_ids_one_pod                   Deployment deploys: 1 replaced
"""
# In 24 and 25 `replicas: 1` stands in the Deployment, and the autoscaler overrides it. The pods of 36 and 37 have a
# second container, which serves nothing and is not counted.

NOT_THE_SERVER = frozenset({"service cache", "service edge"})
"""Redis and the proxy of the compose files."""

EXPECTED = dict(line.split(None, 1) for line in COUNTED.strip().splitlines())


def counted(folder: Path) -> str:
    """The pools of a folder in the words of the table."""
    found = find(folder, [folder])
    pools = [
        pool
        for kind in CONFIG_READERS
        if found.of(kind)
        for pool in reader(kind).read(found.of(kind), found.tree).pools
        if pool.name not in NOT_THE_SERVER
    ]
    return ", ".join(map(line, pools)) or "-"


def line(pool: Pool) -> str:
    count = pool.processes
    number = str(count.low) if count.low == count.high else f"{count.low}..{count.high}"
    workers = f" x {pool.workers.processes.low}" if pool.workers else ""
    return f"{pool.name}: {number} {pool.rolling.value}{workers}"


def test_every_deployment_is_counted() -> None:
    folders = {f"{kind}/{f.name}" for kind in ("cases", "executed") for f in (TESTS / kind).iterdir() if f.is_dir()}
    assert folders == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_processes(name: str) -> None:
    assert counted(TESTS / name) == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "starts", "environment"),
    [
        ("36_fastapi_backend_env_on_another_container", "shipments.api:app", {"SHIPMENTS_REDIS_URL"}),
        ("37_fastapi_backend_env_on_the_server", "shipments.api:app", {"SHIPMENTS_BACKEND", "SHIPMENTS_REDIS_URL"}),
    ],
)
def test_the_container_that_serves_decides_the_environment(name: str, starts: str, environment: set[str]) -> None:
    folder = TESTS / "executed" / name
    found = find(folder, [folder])
    (pool,) = reader("kubernetes").read(found.of("kubernetes"), found.tree).pools
    assert (pool.starts, {s.name for s in pool.environment}) == (starts, environment)
    assert pool.settles_environment
