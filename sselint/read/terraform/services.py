"""What runs behind AWS load balancers: ECS services, Auto Scaling groups and instances, as pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sselint.facts import Count, Evidence, Pool, Rolling, Setting, Truth, Volume
from sselint.read.images import started
from sselint.read.terraform.expressions import (
    Reference,
    Text,
    Unknown,
    Value,
    count_of,
    number_of,
    plain,
    references,
    text_of,
)
from sselint.read.terraform.hcl import Block
from sselint.read.terraform.modules import Module
from sselint.source import Tree


class Services:
    """The pools of a module and of those that it calls, and which target groups each is registered with."""

    def __init__(self, modules: Sequence[Module], tree: Tree) -> None:
        self._modules = modules
        self._tree = tree
        self._registered: dict[str, list[Pool]] = {}
        self.pools = tuple(pool for module in modules for pool in self._of(module))

    def behind(self, target_group: str) -> list[Pool]:
        """The pools whose processes are targets of the group."""
        return self._registered.get(target_group, [])

    def _of(self, module: Module) -> Iterator[Pool]:
        for address, block in module.resources("aws_ecs_service"):
            groups = [r for lb in block.of("load_balancer") for r in references(module.value(lb, "target_group_arn"))]
            yield self._put(self._service(module, address, block), groups)
        for address, block in module.resources("aws_autoscaling_group"):
            yield self._put(_group(module, address, block), [*self._of_group(module, address, block)])
        yield from self._instances(module)

    def _put(self, pool: Pool, groups: Sequence[Reference]) -> Pool:
        for address in dict.fromkeys(r.address for r in groups):
            self._registered.setdefault(address, []).append(pool)
        return pool

    # -- ECS -----------------------------------------------------------------------------------------------------------

    def _service(self, module: Module, address: str, block: Block) -> Pool:
        processes, evidence = self._processes(module, address, block)
        rolling, rolling_evidence = _rolling(module, block)
        pool = Pool(
            path=block.span.path,
            line=block.span.line,
            format="terraform",
            kind="replicas",
            name=f"ECS service {text_of(module.value(block, 'name')) or block.labels[1]}",
            processes=processes,
            rolling=rolling,
            rolling_evidence=rolling_evidence,
            addresses=frozenset(_names(module, address, block)),
            answers="each",
            evidence=(block.span, *evidence),
        )
        container, volumes = self._container(module, block)
        return started(
            self._with_container(pool, container, volumes), self._tree, text_of(container.get("workingDirectory"))
        )

    def _processes(self, module: Module, address: str, block: Block) -> tuple[Count, Evidence]:
        if text_of(module.value(block, "scheduling_strategy")) == "DAEMON":
            return Count.unknown("one task on each container instance"), (block.span_of("scheduling_strategy"),)
        scaler = self._autoscaling(address)
        if scaler is not None:
            return scaler
        span = block.span_of("desired_count")
        if "desired_count" not in block.attributes:
            return Count.unknown("desired_count is not written: something else scales it"), (span,)
        count = count_of(module.value(block, "desired_count"), "desired_count")
        times = number_of(module.value(block, "count"))
        if times is not None and times > 1:
            high = None if count.high is None else count.high * times
            count = Count(count.low * times, high, f"{count.why}, {times} times")
        if _ignores_desired_count(module, block):
            why = f"{count.why} at first, and lifecycle leaves later changes alone: something else scales it"
            return Count(min(count.low, 1), None, why), (span,)
        return count, (span,)

    def _autoscaling(self, service: str) -> tuple[Count, Evidence] | None:
        for module in self._modules:
            for address, block in module.resources("aws_appautoscaling_target"):
                if service not in {r.address for r in references(module.value(block, "resource_id"))}:
                    continue
                low = count_of(module.value(block, "min_capacity"), "min_capacity")
                high = count_of(module.value(block, "max_capacity"), "max_capacity")
                why = f"{address} scales it: {low.why}, {high.why}"
                return Count(low.low, high.high, why), (block.span_of("min_capacity"), block.span_of("max_capacity"))
        return None

    def _container(self, module: Module, block: Block) -> tuple[dict[str, Value], list[Volume]]:
        """The container that serves, as its definition says, and its mounts."""
        wanted = {r.address for r in references(module.value(block, "task_definition"))}
        for owner in self._modules:
            for address, task in owner.resources("aws_ecs_task_definition"):
                if address in wanted:
                    definitions = plain(owner.value(task, "container_definitions"))
                    names = [text_of(module.value(lb, "container_name")) for lb in block.of("load_balancer")]
                    container = _serving(definitions if isinstance(definitions, list) else [], names)
                    return container, list(_volumes(owner, task, container))
        return {}, []

    def _with_container(self, pool: Pool, container: dict[str, Value], volumes: Sequence[Volume]) -> Pool:
        entrypoint = _words(container.get("entryPoint"))
        return replace(
            pool,
            command=(*entrypoint, *_words(container.get("command"))),
            entrypoint=entrypoint,
            image=self._image(container.get("image")),
            environment=tuple(_environment(container, pool.evidence[:1])),
            settles_environment="environment" in container and "environmentFiles" not in container,
            volumes=tuple(volumes),
        )

    def _image(self, value: Value) -> str | None:
        """An image's name; that of an ECR repository of the tree is what the repository is called."""
        text = text_of(value)
        if text is not None:
            return text
        parts = plain(value).parts if isinstance(plain(value), Text) else (value,)
        return "".join(self._image_part(p) for p in parts) or None

    def _image_part(self, part: Value) -> str:
        if isinstance(part, str):
            return part
        for reference in references(part):
            for module in self._modules:
                for address, block in module.resources("aws_ecr_repository"):
                    if address == reference.address:
                        return text_of(module.value(block, "name")) or block.labels[1]
        return text_of(part) or ""

    # -- Auto Scaling groups and instances -----------------------------------------------------------------------------

    def _of_group(self, module: Module, address: str, block: Block) -> Iterator[Reference]:
        yield from references(module.value(block, "target_group_arns"))
        for source in block.of("traffic_source"):
            yield from references(module.value(source, "identifier"))
        for _, attachment in module.resources("aws_autoscaling_attachment"):
            if address in {r.address for r in references(module.value(attachment, "autoscaling_group_name"))}:
                for name in ("lb_target_group_arn", "alb_target_group_arn"):
                    yield from references(module.value(attachment, name))

    def _instances(self, module: Module) -> Iterator[Pool]:
        """Instances that are registered one by one."""
        instances = dict(module.resources("aws_instance"))
        groups: dict[str, list[Reference]] = {}
        for _, attachment in module.resources("aws_lb_target_group_attachment", "aws_alb_target_group_attachment"):
            for target in references(module.value(attachment, "target_id")):
                if target.address in instances:
                    found = references(module.value(attachment, "target_group_arn"))
                    groups.setdefault(target.address, []).extend(found)
        for address, references_ in groups.items():
            block = instances[address]
            many = "for_each" in block.attributes
            count = Count.exactly(1, "one instance")
            if "count" in block.attributes or many:
                value = Unknown("one for each of a set") if many else module.value(block, "count")
                count = count_of(value, "count")
            pool = Pool(
                path=block.span.path,
                line=block.span.line,
                format="terraform",
                kind="replicas",
                name=f"instance {block.labels[1]}",
                processes=count,
                addresses=frozenset({address}),
                answers="each",
                evidence=(block.span, block.span_of("count")),
            )
            yield self._put(pool, references_)


def _names(module: Module, address: str, block: Block) -> Iterator[str]:
    """The resource's address, and what other services call it inside the cluster (Service Connect)."""
    yield address
    for connect in block.of("service_connect_configuration"):
        for service in connect.of("service"):
            for alias in service.of("client_alias"):
                name = text_of(module.value(alias, "dns_name"))
                if name:
                    yield name


def _ignores_desired_count(module: Module, block: Block) -> bool:
    ignored = [r.address for life in block.of("lifecycle") for r in references(module.value(life, "ignore_changes"))]
    return any(name.removeprefix(module.prefix) in ("desired_count", "all") for name in ignored)


def _rolling(module: Module, block: Block) -> tuple[Rolling, Evidence]:
    """Whether two generations of tasks overlap (deployment_maximum_percent is 200 unless it is written)."""
    for controller in block.of("deployment_controller"):
        kind = text_of(module.value(controller, "type"))
        if kind == "CODE_DEPLOY":
            return Rolling.SURGE_WRITTEN, (controller.span_of("type").noted("blue and green answer at once"),)
        if kind != "ECS":
            return Rolling.UNKNOWN, (controller.span_of("type"),)
    for configuration in block.of("deployment_configuration"):
        strategy = text_of(module.value(configuration, "strategy"))
        if strategy not in (None, "ROLLING"):
            return Rolling.SURGE_WRITTEN, (configuration.span_of("strategy"),)
    name = "deployment_maximum_percent"
    if name in block.attributes:
        percent = number_of(module.value(block, name))
        if percent is None:
            return Rolling.UNKNOWN, (block.span_of(name),)
        return (Rolling.SURGE_WRITTEN if percent > 100 else Rolling.REPLACED), (block.span_of(name),)
    daemon = text_of(module.value(block, "scheduling_strategy")) == "DAEMON"
    return (Rolling.REPLACED if daemon else Rolling.SURGE_DEFAULT), ()


def _serving(definitions: Sequence[Value], names: Sequence[str | None]) -> dict[str, Value]:
    """The container that the load balancer names, else the one with a port, else the first."""
    containers = [c for c in map(plain, definitions) if isinstance(c, dict)]
    for wanted in (
        lambda c: text_of(c.get("name")) is not None and text_of(c.get("name")) in names,
        lambda c: bool(c.get("portMappings")),
        lambda c: True,
    ):
        found = next(filter(wanted, containers), None)
        if found is not None:
            return found
    return {}


def _words(value: Value) -> tuple[str, ...]:
    value = plain(value)
    return tuple(text_of(word) or "" for word in value) if isinstance(value, list) else ()


def _environment(container: dict[str, Value], evidence: Evidence) -> Iterator[Setting]:
    for key in ("environment", "secrets"):
        entries = plain(container.get(key))
        for entry in map(plain, entries if isinstance(entries, list) else []):
            name = text_of(entry.get("name")) if isinstance(entry, dict) else None
            if name:
                yield Setting(name, text_of(entry.get("value")) if key == "environment" else None, evidence)


def _volumes(module: Module, task: Block, container: dict[str, Value]) -> Iterator[Volume]:
    shared = {text_of(module.value(v, "name")) for v in task.of("volume") if any(v.of("efs_volume_configuration"))}
    mounts = plain(container.get("mountPoints"))
    for mount in map(plain, mounts if isinstance(mounts, list) else []):
        path = text_of(mount.get("containerPath")) if isinstance(mount, dict) else None
        if path:
            name = text_of(mount.get("sourceVolume"))
            everywhere = name is not None and name in shared
            why = f"{name} is an EFS file system" if everywhere else f"{name} is each task's own"
            yield Volume(path, Truth.of(everywhere), why, (task.span,))


def _group(module: Module, address: str, block: Block) -> Pool:
    low = count_of(module.value(block, "min_size"), "min_size")
    high = count_of(module.value(block, "max_size"), "max_size")
    name = module.value(block, "name")
    return Pool(
        path=block.span.path,
        line=block.span.line,
        format="terraform",
        kind="replicas",
        name=f"Auto Scaling group {text_of(name) or block.labels[1]}",
        processes=Count(low.low, high.high, f"{low.why}, {high.why}"),
        addresses=frozenset({address}),
        answers="each",
        evidence=(block.span, block.span_of("min_size"), block.span_of("max_size")),
    )
