"""Which pools run a stream: each kind of evidence, and the look-alike that must not link."""

from sselint.facts import AppReference, Count, Reading
from tests.link.builders import linked, pool, stream


def names(audit):
    return sorted(
        (d.stream.path, d.hops[0].pool.name if d.hops and d.hops[0].pool else None) for d in audit.deployments
    )


def test_the_command_decides_between_two_pools():
    web = pool(name="Deployment web", starts="app:app")
    jobs = pool(name="Deployment jobs", starts="jobs:app")
    reading = Reading(streams=(stream(),), pools=(web, jobs))
    audit = linked(reading, ["jobs.py"])
    assert names(audit) == [("app.py", "Deployment web")]
    assert not audit.deployments[0].assumptions


def test_the_attribute_counts_too():
    """`main:admin` starts another application of the same file."""
    feed = stream("main.py", apps=(AppReference("main", "public", "main.py"),))
    web = pool(name="Deployment web", starts="main:public")
    admin = pool(name="Deployment admin", starts="main:admin")
    assert names(linked(Reading(streams=(feed,), pools=(web, admin)))) == [("main.py", "Deployment web")]


def test_a_command_is_resolved_from_its_own_folder_first():
    """Every service of a monorepo starts `app:app`; each pool means the one beside it."""
    streams = (stream("a/app.py", "a"), stream("b/app.py", "b"))
    pools = (
        pool("a/compose.yaml", "service a", starts="app:app"),
        pool("b/compose.yaml", "service b", starts="app:app"),
    )
    assert names(linked(Reading(streams=streams, pools=pools))) == [
        ("a/app.py", "service a"),
        ("b/app.py", "service b"),
    ]


def test_the_build_context_links_where_the_command_is_in_the_image():
    streams = (stream("a/app.py", "a"), stream("b/app.py", "b"))
    pools = (
        pool("compose.yaml", "service one", build_context="a"),
        pool("compose.yaml", "service two", build_context="b"),
    )
    audit = linked(Reading(streams=streams, pools=pools))
    assert names(audit) == [("a/app.py", "service one"), ("b/app.py", "service two")]


def test_one_server_and_one_pool_are_linked_and_named_as_an_assumption():
    audit = linked(Reading(streams=(stream(),), pools=(pool(),)))
    assert names(audit) == [("app.py", "Deployment app")]
    assert "one server" in audit.deployments[0].assumptions[0]


def test_one_server_and_two_pools_are_not_guessed():
    """Nothing says which: no hop, and both are named."""
    audit = linked(Reading(streams=(stream(),), pools=(pool(name="Deployment a"), pool(name="Deployment b"))))
    (deployment,) = audit.deployments
    assert deployment.hops == ()
    assert len(deployment.candidates) == 2


def test_two_servers_and_one_pool_are_not_guessed():
    audit = linked(Reading(streams=(stream("a.py"), stream("b.py")), pools=(pool(),)))
    assert all(d.hops == () and d.candidates for d in audit.deployments)


def test_infrastructure_is_never_a_candidate():
    """redis beside the server does not make two pools; a server whose image is only called like it does."""
    redis = pool("compose.yaml", "service cache", image="redis:7")
    audit = linked(Reading(streams=(stream(),), pools=(pool(), redis)))
    assert names(audit) == [("app.py", "Deployment app")]
    feed = pool("compose.yaml", "service feed", image="example/rediscovery:1")
    audit = linked(Reading(streams=(stream(),), pools=(pool(), feed)))
    assert audit.deployments[0].candidates


def test_a_pool_that_starts_something_else_of_the_tree_is_not_a_candidate():
    worker = pool(name="Deployment jobs", starts="worker.py")
    audit = linked(Reading(streams=(stream(),), pools=(pool(), worker)), ["worker.py"])
    assert names(audit) == [("app.py", "Deployment app")]


def test_a_dockerfile_fills_in_the_workers_of_the_platform():
    """A manifest without a command runs the image's: four workers in each of three pods."""
    image = pool(
        "Dockerfile",
        "Dockerfile",
        Count.exactly(1, "one container"),
        format="dockerfile",
        command=("uvicorn", "app:app", "--workers", "4"),
        entrypoint=(),
        starts="app:app",
        dockerfile="Dockerfile",
        build_context=".",
    )
    audit = linked(Reading(streams=(stream(),), pools=(pool(build_context="."), image)), ["Dockerfile"])
    (deployment,) = audit.deployments
    assert [h.pool.processes.low for h in deployment.hops if h.pool] == [3, 4]


def test_library_code_is_a_fact_without_a_deployment():
    assert linked(Reading(streams=(stream(apps=()),), pools=(pool(),))).deployments == ()


def test_examples_are_deployed_only_by_a_configuration_that_starts_them():
    example = stream("examples/app.py", deployable=False)
    assert linked(Reading(streams=(example,), pools=(pool(),))).deployments == ()
    started = pool(starts="examples.app:app")
    assert len(linked(Reading(streams=(example,), pools=(started,))).deployments) == 1
    by_itself = pool("examples/app.py", "uvicorn.run", format="python", starts="examples.app:app")
    assert linked(Reading(streams=(example,), pools=(by_itself,))).deployments == ()


def test_two_platforms_are_two_deployments_with_names_of_their_own():
    compose = pool("compose.yaml", "service feed", Count.exactly(1, "one"), format="compose", starts="app:app")
    production = pool("k8s.yaml", "Deployment feed", starts="app:app")
    audit = linked(Reading(streams=(stream(),), pools=(compose, production)))
    assert len({d.name for d in audit.deployments}) == 2


def test_what_another_service_runs_is_no_candidate():
    """In a monorepo each service has a manifest of its own; one without is not run by all the others'."""
    streams = (stream("a/app.py", "a"), stream("b/app.py", "b"))
    beside = pool("b/k8s.yaml", "Deployment b")
    of_all = pool("deploy/k8s.yaml", "Deployment c")
    audit = linked(Reading(streams=streams, pools=(beside,)))
    assert {d.stream.path: [h.name for h in d.hops] for d in audit.deployments} == {
        "a/app.py": [],
        "b/app.py": ["Deployment b"],
    }
    assert not any(d.candidates for d in audit.deployments)
    audit = linked(Reading(streams=streams, pools=(beside, of_all)))
    assert [d.candidates for d in audit.deployments if d.stream.path == "a/app.py"] == [
        ("Deployment c (deploy/k8s.yaml:1)",)
    ]
