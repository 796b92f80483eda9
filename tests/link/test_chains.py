"""Hops in front of a pool: names that meet, members that are counted once, and what must not be linked."""

from dataclasses import replace
from pathlib import Path

import pytest

from sselint.facts import Count, CursorTreatment, Match, Reading, Rolling, Strength, Truth, Volume
from sselint.findings import Policy
from sselint.settings import DeploymentOverride, Reference, Settings, SettingsError
from tests.link.builders import affinity, linked, pool, route, span, stream


def shape(deployment):
    return [
        (h.route.name, h.route.members.low) if h.route else (h.pool.name, h.pool.processes.low) for h in deployment.hops
    ]


def service(**changes):
    changes = {"name": "Service app", "addresses": frozenset({"app"}), "resolves": "all", **changes}
    return route("k8s.yaml", ["deployment/app"], format="kubernetes_service", **changes)


PODS = pool(addresses=frozenset({"deployment/app"}), starts="app:app")


def test_a_service_spreads_over_the_pods_and_they_are_counted_once():
    (deployment,) = linked(Reading(streams=(stream(),), routes=(service(),), pools=(PODS,))).deployments
    assert shape(deployment) == [("Service app", 3), ("Deployment app", 1)]


def test_an_ingress_that_balances_over_endpoints_passes_the_service_over():
    ingress = route("ingress.yaml", ["app"], name="Ingress feed", to_endpoints=True)
    (deployment,) = linked(Reading(streams=(stream(),), routes=(ingress, service()), pools=(PODS,))).deployments
    assert shape(deployment) == [("Ingress feed", 3), ("Deployment app", 1)]


def test_a_proxy_in_front_of_a_virtual_address_does_not_choose_the_pod():
    """nginx has one member here, the Service's address; the choice is the Service's."""
    (deployment,) = linked(
        Reading(streams=(stream(),), routes=(route(resolves="all"), service()), pools=(PODS,))
    ).deployments
    assert shape(deployment) == [("location / -> feed", 1), ("Service app", 3), ("Deployment app", 1)]


def test_a_headless_service_hands_the_choice_to_the_proxy():
    routes = (route(resolves="all"), service(answers="each"))
    (deployment,) = linked(Reading(streams=(stream(),), routes=routes, pools=(PODS,))).deployments
    assert shape(deployment) == [("location / -> feed", 3), ("Deployment app", 1)]


def test_a_proxy_that_takes_one_address_leaves_the_choice_to_the_name():
    """HAProxy resolves a server's name to one address: three containers behind it are a hop of their own."""
    containers = pool("compose.yaml", "service app", addresses=frozenset({"app"}), starts="app:app")
    one = linked(Reading(streams=(stream(),), routes=(route(resolves="one"),), pools=(containers,))).deployments[0]
    each = linked(Reading(streams=(stream(),), routes=(route(resolves="all"),), pools=(containers,))).deployments[0]
    assert shape(one) == [("location / -> feed", 1), ("service app", 3)]
    assert shape(each) == [("location / -> feed", 3), ("service app", 1)]


def test_replicas_named_one_by_one_are_one_deployment():
    pools = tuple(
        pool(
            "compose.yaml",
            f"service app-{n}",
            Count.exactly(1, "one"),
            addresses=frozenset({f"app-{n}"}),
            starts="app:app",
        )
        for n in (1, 2)
    )
    balancer = route(hosts=["app-1", "app-2"], resolves="all")
    (deployment,) = linked(Reading(streams=(stream(),), routes=(balancer,), pools=pools)).deployments
    assert shape(deployment) == [("location / -> feed", 2), ("service app-1 and 1 more", 1)]


def test_workers_are_a_hop_of_their_own():
    workers = pool("k8s.yaml", "uvicorn workers", Count.exactly(4, "--workers 4"))
    pods = replace(PODS, workers=workers)
    (deployment,) = linked(Reading(streams=(stream(),), routes=(service(),), pools=(pods,))).deployments
    assert shape(deployment) == [("Service app", 3), ("Deployment app", 1), ("uvicorn workers", 4)]


def test_what_a_surge_adds_is_one_more_member_of_a_pinning_hop():
    pods = replace(PODS, rolling=Rolling.SURGE_WRITTEN)
    for strength, rolling in ((Strength.STRICT, Rolling.REPLACED), (Strength.BEST_EFFORT, Rolling.SURGE_WRITTEN)):
        pin = service(affinity=affinity(strength))
        (deployment,) = linked(Reading(streams=(stream(),), routes=(pin,), pools=(pods,))).deployments
        assert deployment.hops[-1].pool.rolling is rolling


def test_the_location_that_takes_the_path_is_the_hop():
    feed = route(name="location /feed -> a", prefix="/feed", priority=0)
    rest = route(name="location / -> b", prefix="/", priority=1, line=9)
    static = route(name="location /static -> c", prefix="/static", priority=0, line=12)
    containers = pool("compose.yaml", "service app", addresses=frozenset({"app"}), starts="app:app")
    audit = linked(Reading(streams=(stream(),), routes=(feed, rest, static), pools=(containers,)))
    assert [shape(d)[0][0] for d in audit.deployments] == ["location /feed -> a"]
    assert {r.name for r in audit.loose_routes} == {"location / -> b", "location /static -> c"}


def test_a_name_in_two_places_means_the_nearest():
    """Every service of a monorepo calls its container `app`: no cross product."""
    streams = (stream("a/app.py", "a"), stream("b/app.py", "b"))
    pools = tuple(
        pool(f"{u}/compose.yaml", f"service app of {u}", addresses=frozenset({"app"}), starts="app:app") for u in "ab"
    )
    routes = tuple(route(f"{u}/nginx.conf", name=f"edge of {u}", resolves="all") for u in "ab")
    audit = linked(Reading(streams=streams, routes=routes, pools=pools))
    assert [shape(d) for d in audit.deployments] == [
        [("edge of a", 3), ("service app of a", 1)],
        [("edge of b", 3), ("service app of b", 1)],
    ]


def test_variants_never_meet():
    """Two overlays of one base hold the same names."""
    pools = tuple(replace(PODS, path=f"{v}/k.yaml", variant=v) for v in ("dev", "prod"))
    services = tuple(replace(service(), path=f"{v}/k.yaml", variant=v) for v in ("dev", "prod"))
    audit = linked(Reading(streams=(stream(),), routes=services, pools=pools))
    assert len(audit.deployments) == 2
    assert all(d.hops[0].route.variant == d.hops[1].pool.variant for d in audit.deployments)


def test_the_only_free_route_beside_the_only_server_is_an_assumption():
    audit = linked(Reading(streams=(stream(),), routes=(route(hosts=["feed-0", "feed-1"]),)))
    (deployment,) = audit.deployments
    assert shape(deployment) == [("location / -> feed", 2)]
    assert deployment.assumptions


def test_a_route_to_something_else_of_the_tree_is_not_assumed():
    """nginx in front of a pool that starts another server says nothing of this one."""
    other = pool("compose.yaml", "service web", addresses=frozenset({"app"}), starts="site:app")
    audit = linked(Reading(streams=(stream(),), routes=(route(),), pools=(other,)), ["site.py"])
    assert all(h.route is None for d in audit.deployments for h in d.hops)


def test_two_balancers_beside_one_server_are_not_guessed():
    routes = (route("nginx.conf", ["x", "y"]), route("haproxy.cfg", ["x", "y"], format="haproxy"))
    (deployment,) = linked(Reading(streams=(stream(),), routes=routes)).deployments
    assert deployment.hops == ()


def test_a_fragment_has_the_pods_as_its_members():
    fragment = route("envoy.yaml", [], fragment=True, members=Count.unknown("names none"), name="http_filters")
    (deployment,) = linked(Reading(streams=(stream(),), routes=(fragment,), pools=(PODS,))).deployments
    assert shape(deployment) == [("http_filters", 3), ("Deployment app", 1)]


def test_a_fragment_reaches_the_pods_past_their_service():
    fragment = route("envoy.yaml", [], fragment=True, members=Count.unknown("names none"), name="http_filters")
    reading = Reading(streams=(stream(),), routes=(fragment, service()), pools=(PODS,))
    (deployment,) = linked(reading).deployments
    assert shape(deployment) == [("http_filters", 3), ("Deployment app", 1)]
    assert any("http_filters" in assumption for assumption in deployment.assumptions)


def test_a_fragment_beside_a_balancer_that_leads_to_the_pods_is_not_guessed():
    """Whether it is in front of the Ingress, behind it or nowhere is not in the tree."""
    fragment = route("envoy.yaml", [], fragment=True, members=Count.unknown("names none"), name="http_filters")
    ingress = route("ingress.yaml", ["app"], name="Ingress feed", to_endpoints=True)
    reading = Reading(streams=(stream(),), routes=(fragment, ingress, service()), pools=(PODS,))
    (deployment,) = linked(reading).deployments
    assert shape(deployment) == [("Ingress feed", 3), ("Deployment app", 1)]


def test_two_fragments_are_not_guessed():
    pieces = tuple(
        route(f"{name}.yaml", [], fragment=True, members=Count.unknown("names none"), name=name) for name in ("a", "b")
    )
    (deployment,) = linked(Reading(streams=(stream(),), routes=(*pieces, service()), pools=(PODS,))).deployments
    assert shape(deployment) == [("Service app", 3), ("Deployment app", 1)]


def test_routes_on_the_header_become_a_treatment_of_it():
    owner = replace(
        route("haproxy.cfg", ["app-1"], name="use_backend a", line=3),
        match=Match(headers=("last-event-id",)),
        last_event_id=CursorTreatment.ROUTED_ON,
        last_event_id_evidence=(span("haproxy.cfg", 3),),
    )
    rest = replace(route("haproxy.cfg", ["app-1", "app-2"], name="default_backend"), match=Match(priority=1))
    (deployment,) = linked(Reading(streams=(stream(),), routes=(owner, rest))).deployments
    assert shape(deployment) == [("default_backend", 2)]
    assert deployment.hops[0].route.last_event_id is CursorTreatment.ROUTED_ON
    assert deployment.hops[0].route.last_event_id_evidence[0].line == 3


@pytest.mark.parametrize(
    ("replays", "members"),
    [(["replay"], 2), (["app"], 1)],  # a server of its own for those that come back, or the same one
)
def test_servers_that_only_a_cursor_leads_to_are_members(replays, members):
    """One server for those without a cursor and one for those with: a reconnect always meets the other."""
    by_cursor = {"last_event_id": CursorTreatment.ROUTED_ON}
    returning = replace(
        route("envoy.yaml", replays, name="replay", line=3, **by_cursor), match=Match(headers=("last-event-id",))
    )
    fresh = replace(route("envoy.yaml", ["app"], name="live"), match=Match(priority=1))
    (assumed,) = linked(Reading(streams=(stream(),), routes=(returning, fresh))).deployments
    assert shape(assumed)[0] == ("live", members)

    pools = tuple(
        pool("compose.yaml", f"service {n}", Count.exactly(1, "one"), addresses=frozenset({n}), starts="app:app")
        for n in dict.fromkeys(["app", *replays])
    )
    (known,) = linked(Reading(streams=(stream(),), routes=(returning, fresh), pools=pools)).deployments
    assert shape(known)[0] == ("live", members)


@pytest.mark.parametrize(
    ("prefix", "front", "candidates"),
    [
        ("/feed", "stream", 0),  # by name
        ("/", "service app", 2),  # as part of everything, like the other one
    ],
)
def test_of_two_free_routes_the_one_that_names_the_path_is_in_front(prefix, front, candidates):
    """The other one takes the same path of other hosts, for whatever the site behind it is."""
    named = route("haproxy.cfg", ["10.0.0.1", "10.0.0.2"], name="stream", prefix=prefix)
    named = replace(named, match=replace(named.match, hosts=("api.test",)))
    site = route("haproxy.cfg", ["10.0.9.1"], name="site", line=9)
    alone = pool("compose.yaml", "service app", Count.exactly(1, "one"), starts="app:app")
    reading = Reading(streams=(stream(),), routes=(named, site), pools=(alone,))
    (deployment,) = linked(reading).deployments
    assert deployment.hops[0].name == front
    assert len(deployment.candidates) == candidates


def test_the_settings_are_stronger_than_any_evidence():
    place = span("sselint.toml", 2)
    override = DeploymentOverride(
        stream=Reference("app.py", "feed", place),
        place=place,
        routes=(Reference("haproxy.cfg", "", place),),
        pool=Reference("", "other", place),
        replicas=Count.exactly(7, "stated"),
    )
    settings = Settings(Path("/nowhere"), deployments=(override,))
    routes = (route("nginx.conf"), route("haproxy.cfg", [], name="haproxy", resolves="all", members=Count.unknown("?")))
    pools = (PODS, pool(name="Deployment other"))
    (deployment,) = linked(Reading(streams=(stream(),), routes=routes, pools=pools), settings=settings).deployments
    assert shape(deployment) == [("haproxy", 7), ("Deployment other", 1)]
    assert not deployment.assumptions


def test_settings_that_name_nothing_of_the_tree_say_what_there_is():
    place = span("sselint.toml", 2)
    override = DeploymentOverride(Reference("app.py", "", place), place, pool=Reference("", "nope", place))
    settings = Settings(Path("/nowhere"), deployments=(override,))
    with pytest.raises(SettingsError, match="Deployment app"):
        linked(Reading(streams=(stream(),), pools=(PODS,)), settings=settings)


def test_each_table_of_the_settings_is_a_deployment_of_its_own():
    """Its name and its policy go with its own hops; a table without hops leaves those to the linker."""
    place = span("sselint.toml", 2)
    app = Reference("app.py", "", place)
    tables = (
        DeploymentOverride(app, place, name="east", pool=Reference("", "app", place), policy=Policy.SHARED_REPLAY),
        DeploymentOverride(app, place, name="west", pool=Reference("", "other", place)),
        DeploymentOverride(app, place, name="found"),
    )
    pools = (PODS, pool(name="Deployment other"))
    audit = linked(Reading(streams=(stream(),), pools=pools), settings=Settings(Path("/nowhere"), deployments=tables))
    assert [(d.name, d.hops[0].name, d.declared_policy) for d in audit.deployments] == [
        ("east", "Deployment app", "shared-replay"),
        ("west", "Deployment other", None),
        ("found", "Deployment app", None),
    ]


def test_a_choice_by_the_cursor_leaves_no_branch_without_a_server():
    by_cursor = {"last_event_id": CursorTreatment.ROUTED_ON}
    pools = tuple(
        pool("compose.yaml", f"service {n}", Count.exactly(1, "one"), addresses=frozenset({n}), starts="app:app")
        for n in ("a", "b")
    )
    branches = tuple(
        replace(route(hosts=[n], name=f"backend {n}", line=line, **by_cursor), match=Match(headers=("last-event-id",)))
        for line, n in enumerate(("a", "b"), 1)
    )
    rest = route(hosts=["a", "b"], name="backend all", line=3, **by_cursor)
    audit = linked(Reading(streams=(stream(),), routes=(*branches, rest), pools=pools))
    assert [d.hops[0].route.name for d in audit.deployments] == ["backend all"]
    assert audit.loose_routes == ()


def test_a_pool_that_its_image_completes_is_still_reached_by_name():
    service_a = pool("compose.yaml", "service a", addresses=frozenset({"a"}), build_context=".", starts="app:app")
    image = pool("Dockerfile", "container of Dockerfile", format="dockerfile", starts="app:app")
    edge = route(hosts=["a"], name="location / -> a")
    (deployment,) = linked(Reading(streams=(stream(),), routes=(edge,), pools=(service_a, image))).deployments
    assert deployment.hops[0].route.name == "location / -> a"


def behind_haproxy(counts):
    """A backend with a line for each of these services of compose, which have so many containers."""
    named = route("haproxy.cfg", list(counts), members=Count.exactly(2, "two lines"), resolves="one", name="backend")
    pools = tuple(
        pool("compose.yaml", f"service {name}", Count.exactly(n, ""), addresses=frozenset({name}), starts="app:app")
        for name, n in counts.items()
    )
    return linked(Reading(streams=(stream(),), routes=(named,), pools=pools)).deployments[0]


def test_of_several_pools_the_one_with_the_most_choices_stands_for_all():
    """A name that stands for four containers chooses among them, although the name beside it stands for one."""
    deployment = behind_haproxy({"small": 1, "large": 4})
    assert shape(deployment) == [("backend", 2), ("service large and 1 more", 4)]
    assert [hop.per_member for hop in deployment.hops] == [False, True]


def test_pools_alike_are_named_after_the_first():
    assert shape(behind_haproxy({"a": 1, "b": 1})) == [("backend", 2), ("service a and 1 more", 1)]


def mounted(source, **changes):
    volume = Volume("/etc/nginx/nginx.conf", Truth.YES, "a bind mount", source=source)
    changes = {"addresses": frozenset({"proxy"}), "image": "nginx:1.27", "volumes": (volume,), **changes}
    return pool("compose.yaml", "service proxy", **changes)


CONTAINERS = pool("compose.yaml", "service app", addresses=frozenset({"app"}), starts="app:app")


@pytest.mark.parametrize("source", ["nginx.conf", "conf"])
def test_a_proxy_is_reached_by_the_service_that_mounts_its_configuration(source):
    """The edge forwards to `proxy`, a name that only compose knows, and compose mounts nginx.conf there."""
    edge = route("edge/haproxy.cfg", ["proxy"], name="frontend edge", format="haproxy")
    inner = route("conf/nginx.conf" if source == "conf" else "nginx.conf", ["app"], name="location /", resolves="all")
    reading = Reading(streams=(stream(),), routes=(edge, inner), pools=(CONTAINERS, mounted(source)))
    (deployment,) = linked(reading).deployments
    assert [h.name for h in deployment.hops] == ["frontend edge", "location /", "service app"]


@pytest.mark.parametrize(
    "proxy",
    [
        mounted("other.conf"),
        # The whole of its own sources, as in development: not the configuration of this container.
        mounted("app", build_context="app", image=None),
        mounted("."),
    ],
)
def test_a_mount_of_something_else_names_no_proxy(proxy):
    edge = route("edge/haproxy.cfg", ["proxy"], name="frontend edge", format="haproxy")
    inner = route("app/nginx.conf", ["app"], name="location /", resolves="all")
    reading = Reading(streams=(stream(),), routes=(edge, inner), pools=(CONTAINERS, proxy))
    (deployment,) = linked(reading).deployments
    assert [h.name for h in deployment.hops] == ["location /", "service app"]


def test_one_replica_behind_a_service_says_why_it_is_one():
    """Of one there is nothing to choose: its own reason is the one to tell."""
    alone = replace(PODS, processes=Count.exactly(1, "replicas: 1"))
    (deployment,) = linked(Reading(streams=(stream(),), routes=(service(),), pools=(alone,))).deployments
    assert [h.pool.processes.why for h in deployment.hops if h.pool] == ["replicas: 1"]


@pytest.mark.parametrize(
    ("own", "idle"),
    [
        (Strength.NONE, ["sessionAffinity ClientIP of Service app, which Ingress feed passes over"]),
        (Strength.BEST_EFFORT, []),  # with a cookie of its own, nobody needs the Service's
    ],
)
def test_the_affinity_of_a_service_that_is_passed_over_has_no_effect(own, idle):
    client_ip = replace(
        affinity(Strength.BEST_EFFORT), mechanism="sessionAffinity ClientIP", evidence=(span("k8s.yaml"),)
    )
    ingress = route("ingress.yaml", ["app"], name="Ingress feed", to_endpoints=True, affinity=affinity(own))
    routes = (ingress, service(affinity=client_ip))
    audit = linked(Reading(streams=(stream(),), routes=routes, pools=(PODS,)))
    assert [s.note for s in audit.deployments[0].hops[0].route.affinity.no_effect] == idle
    assert audit.loose_routes == ()  # it has a server, which others reach without it


@pytest.mark.parametrize(("answers", "fronts"), [("each", ["backend"]), ("one", ["backend", "Service app"])])
def test_a_headless_service_beside_a_proxy_that_names_its_pods_is_no_entry(answers, fronts):
    """A virtual address is one: whoever takes it passes the proxy by."""
    pods = replace(PODS, addresses=frozenset({"deployment/app", "app-0.app", "app-1.app"}))
    proxy = route("haproxy.cfg", ["app-0.app", "app-1.app"], name="backend", format="haproxy")
    audit = linked(Reading(streams=(stream(),), routes=(proxy, service(answers=answers)), pools=(pods,)))
    assert sorted(d.hops[0].name for d in audit.deployments) == sorted(fronts)
