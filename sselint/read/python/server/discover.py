"""Endpoints: which handler answers under which address, behind which middleware, in which applications."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sselint.read.python.interpreter import classes, containers, iteration
from sselint.read.python.interpreter.machine import Hypothesis, Machine
from sselint.read.python.interpreter.oracle import Oracle
from sselint.read.python.interpreter.values import (
    Callback,
    ClassValue,
    Const,
    Descriptor,
    External,
    Function,
    Method,
    ModuleValue,
    Partial,
    Ref,
    Tuple,
    Unknown,
    Value,
    undecorated,
)
from sselint.read.python.libraries import library
from sselint.read.python.server import class_based, free
from sselint.read.python.server.endpoint import Endpoint, speaks
from sselint.read.python.server.registered import Registration
from sselint.read.python.server.world import World
from sselint.read.python.source.modules import Module, Site

MAX_NESTING = 8


class Endpoints:
    """All endpoints of a program."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.m = Machine(world, Oracle(), Hypothesis.BUILD)
        self.m.boot = True
        self._by_receiver: dict[int, list[Registration]] = {}
        for registration in world.registrations:
            number = registration.receiver.id if registration.receiver is not None else 0
            self._by_receiver.setdefault(number, []).append(registration)
        self._mounted: set[int] = set()
        self._tables_open: set[str] = set()
        self._listed_handlers: set[int] = set()
        self._classes: dict[int, ClassValue] | None = None

    def find(self) -> list[Endpoint]:
        """Every endpoint, those of applications first; those of routers that nothing mounts have no application."""
        found: list[Endpoint] = []
        applications = [
            o.id for o in self.world.heap.objects.values() if library.role_of(self.m, Ref(o.id)) == "application"
        ]
        children = {child for number in applications for child in self._children(number)}
        for number in applications:
            if number not in children:
                found.extend(self._below(number, "", (number,), number))
        for number in applications:
            if number in children and number not in self._mounted:
                found.extend(self._below(number, "", (number,), number))
        within = {_itself(e.handler) for e in found if e.application}
        found.extend(
            e for e in self._free() if not isinstance(e.handler, Function | Ref) or _itself(e.handler) not in within
        )
        for target in list(self.world.heap.objects.values()):
            role = library.role_of(self.m, Ref(target.id))
            if role == "router" and target.id not in self._mounted:
                found.extend(self._below(target.id, "", (target.id,), 0))
        return self._unique(found)

    def _unique(self, found: list[Endpoint]) -> list[Endpoint]:
        seen: dict[tuple[object, ...], Endpoint] = {}
        for endpoint in found:
            key = (*endpoint.key, endpoint.application)
            seen.setdefault(key, endpoint)
        return list(seen.values())

    def _children(self, number: int, depth: int = 0) -> Iterator[int]:
        if depth > MAX_NESTING:
            return
        for registration in self._by_receiver.get(number, ()):
            target = registration.values.get("target")
            if registration.kind == "mount" and isinstance(target, Ref):
                yield target.id
                yield from self._children(target.id, depth + 1)
        for item in self._listed(number, "routes"):
            target = library.use(self.m, item, "target") if isinstance(item, Ref) else None
            if target is None and library.role_of(self.m, item) in ("application", "router"):
                target = item
            if isinstance(target, Ref):
                yield target.id
                yield from self._children(target.id, depth + 1)

    def _listed(self, number: int, what: str) -> list[Value]:
        given = library.use(self.m, Ref(number), what)
        return _elements(self.m, given)

    def _below(self, number: int, prefix: str | None, routers: tuple[int, ...], application: int) -> Iterator[Endpoint]:
        if len(routers) > MAX_NESTING:
            return
        self._mounted.add(number)
        entry = library.entry_of(self.m, Ref(number))
        if entry is not None and entry.options.get("serves"):
            path = _text(library.use(self.m, Ref(number), "path")) or str(entry.options.get("path", ""))
            yield Endpoint(
                Ref(number), _joined(prefix, path), routers, self.world.heap[number].site, application, "asgi"
            )
        own = _text(library.use(self.m, Ref(number), "prefix"))
        prefix = _joined(prefix, own)
        for whole in ("handler", "root"):
            target = library.use(self.m, Ref(number), whole)
            if target is not None:
                yield from self._whole(target, prefix, routers, application)
        for registration in self._by_receiver.get(number, ()):
            yield from self._registered(registration, prefix, routers, application)
        for item in self._listed(number, "routes"):
            yield from self._route(item, prefix, routers, application)
        yield from self._tables(number, application)

    def _registered(
        self, registration: Registration, prefix: str | None, routers: tuple[int, ...], application: int
    ) -> Iterator[Endpoint]:
        values = registration.values
        if registration.kind == "routes":
            for item in _elements(self.m, values.get("target")):
                yield from self._route(item, prefix, routers, application)
        elif registration.kind == "route" and registration.handler is not None:
            url = _joined(prefix, _text(values.get("path")))
            for handler in class_based.views_of(self.m, self._method(registration.handler)):
                yield Endpoint(handler, url, routers, registration.site, application, options=dict(values))
        elif registration.kind == "mount":
            target = values.get("target")
            inner = _joined(prefix, _text(values.get("path") or values.get("prefix")))
            if target is not None:
                yield from self._target(target, inner, routers, application, registration.site)

    def _route(self, item: Value, prefix: str | None, routers: tuple[int, ...], application: int) -> Iterator[Endpoint]:
        if isinstance(item, Tuple) and len(item.items) >= 2:
            path, answers, *more = item.items
            told = {"with arguments": more[0]} if more else {}
            address = _joined(prefix, _text(path))
            yield Endpoint(answers, address, routers, _site_of(answers), application, options=told)
            return
        if isinstance(item, Function | ClassValue):
            yield from self._decorated(item, prefix, routers, application)
        if not isinstance(item, Ref):
            return
        role = library.role_of(self.m, item)
        url = _joined(prefix, _text(library.use(self.m, item, "path")))
        site = self.m.object(item).site
        if role == "route":
            handler = library.use(self.m, item, "handler")
            if isinstance(handler, Ref) and library.role_of(self.m, handler) == "mount":
                inner = library.use(self.m, handler, "target")
                if inner is not None:
                    yield from self._target(inner, url, routers, application, site)
            elif handler is not None:
                options = {f"with {k}": v for k, v in self.m.object(item).arguments.items()}
                yield Endpoint(handler, url, routers, site, application, options=options)
        elif role in ("application", "router"):
            yield from self._below(item.id, prefix or "", (*routers, item.id), application)
        elif role == "mount":
            target = library.use(self.m, item, "target")
            if target is not None and not (isinstance(target, Const) and target.value is None):
                yield from self._target(target, url, routers, application, site)
            for inner in _elements(self.m, library.use(self.m, item, "routes")):
                yield from self._route(inner, url, routers, application)

    def _decorated(
        self, item: Function | ClassValue, prefix: str | None, routers: tuple[int, ...], application: int
    ) -> Iterator[Endpoint]:
        """Handlers that got their address from a decorator and their application from a list that names them, or that
        names their class (then the class holds the first part of the address)."""
        own: Value | None = None
        methods: list[Value] = [item]
        made: Value | None = None
        if isinstance(item, ClassValue):
            found = classes.class_attribute(self.m, item, "path")
            own, methods = found[0] if found else None, list(item.attributes.values())
            made = classes.instantiate(self.m, item, (), {}, Site(item.module, item.node.cst), None)
        nodes = {id(f.node) for f in methods if isinstance(f, Function)}
        for registration in self._by_receiver.get(0, ()):
            handler = registration.handler
            if registration.kind == "route" and isinstance(handler, Function) and id(handler.node) in nodes:
                self._listed_handlers.add(id(handler.node))
                url = _joined(_joined(prefix, _text(own)), _text(registration.values.get("path")))
                bound = handler if made is None else replace(handler, receiver=made)
                yield Endpoint(bound, url, routers, registration.site, application, options=dict(registration.values))

    def _method(self, handler: Value) -> Value:
        """A handler; one that a router took while its class was still being defined is a method of its objects."""
        inner = _innermost(handler)
        if not isinstance(handler, Function) or handler.receiver is not None or inner is None or not _takes_self(inner):
            return handler
        owner = self._owners().get(id(inner.node))
        if owner is None:
            return handler
        return replace(handler, receiver=free.receiver_of(self.m, owner), owner=owner)

    def _owners(self) -> dict[int, ClassValue]:
        """The classes of the tree by the functions in their bodies."""
        if self._classes is None:
            self._classes = {}
            for names in self.world.globals.values():
                for cls in (v for values in names.values() for v in values if isinstance(v, ClassValue)):
                    for inner in map(_innermost, cls.attributes.values()):
                        if inner is not None:
                            self._classes[id(inner.node)] = cls
        return self._classes

    def _whole(self, target: Value, url: str | None, routers: tuple[int, ...], application: int) -> Iterator[Endpoint]:
        """What answers all that an application is asked for: a class of handlers, or an object that renders."""
        cls = class_based.class_of_handler(self.m, target)
        if cls is not None:
            yield Endpoint(target, url or None, routers, _site_of(cls), application)
        elif isinstance(target, Ref):
            yield from self._target(target, url, routers, application, self.m.object(target).site)

    def _target(
        self, target: Value, url: str | None, routers: tuple[int, ...], application: int, site: Site | None
    ) -> Iterator[Endpoint]:
        if isinstance(target, Ref):
            role = library.role_of(self.m, target)
            if role in ("application", "router"):
                entry = library.entry_of(self.m, target)
                if entry is not None and entry.options.get("renders") and self.m.object(target).kind == "instance":
                    yield Endpoint(target, url, routers, site, application)
                yield from self._below(target.id, url or "", (*routers, target.id), application)
                return
        if isinstance(target, External):
            entry = self.world.rules.entry(target.name)
            if entry is not None and entry.role == "endpoint":
                yield Endpoint(target, url, routers, site, application)
            return
        if isinstance(target, ModuleValue | Const):
            yield from self._table(target, url, routers, application, site)
            return
        for element in _elements(self.m, target):
            yield from self._route(element, url, routers, application)
        if isinstance(target, Function | Ref | Method | Callback | Partial):
            yield Endpoint(target, url, routers, site, application, "asgi")

    def _table(
        self, named: Value, url: str | None, routers: tuple[int, ...], application: int, site: Site | None
    ) -> Iterator[Endpoint]:
        """The routes in a module's table, the module given itself or by its dotted name."""
        module = named.module if isinstance(named, ModuleValue) else self._module_named(named, site)
        if module is None or module.path in self._tables_open:
            return
        self.world.load(module)
        names = self.world.globals.get(module.path, {})
        self._tables_open.add(module.path)
        try:
            for table in self.world.rules.word_list("route_tables"):
                for value in list(names.get(table, ())):
                    for element in _elements(self.m, value):
                        yield from self._route(element, url, routers, application)
        finally:
            self._tables_open.discard(module.path)

    def _module_named(self, named: Value, site: Site | None) -> Module | None:
        """The module that a dotted name in a table of routes means, to the project that the table belongs to."""
        if not isinstance(named, Const) or not isinstance(named.value, str):
            return None
        loaded = next((m for m in self.world.loaded.values() if m.name == named.value), None)
        if site is not None and site.module.path:
            return self.world.table.resolve(named.value, site.module) or loaded
        if loaded is not None or not self.world.loaded:
            return loaded
        return self.world.table.resolve(named.value, next(iter(self.world.loaded.values())))

    def _tables(self, number: int, application: int) -> Iterator[Endpoint]:
        """The tables of routes that a framework finds by their name: those that no other one includes."""
        entry = library.entry_of(self.m, Ref(number))
        name = str(entry.options.get("route_table", "")) if entry is not None else ""
        if not name:
            return
        included = {
            given.value if isinstance(given, Const) else given.module.name
            for o in self.world.heap.objects.values()
            for given in [
                library.use(self.m, Ref(o.id), "target") if library.role_of(self.m, Ref(o.id)) == "mount" else None
            ]
            if isinstance(given, Const | ModuleValue)
        }
        for path, names in list(self.world.globals.items()):
            if name in names and self.world.loaded[path].name not in included:
                for value in names[name]:
                    for element in _elements(self.m, value):
                        yield from self._route(element, "/", (number,), application)

    def _free(self) -> Iterator[Endpoint]:
        """Registrations without a router, and callables that speak ASGI or WSGI themselves: at the top of a module, or
        given to a server."""
        for registration in self._by_receiver.get(0, ()):
            listed = (
                isinstance(registration.handler, Function) and id(registration.handler.node) in self._listed_handlers
            )
            if registration.kind in ("route", "mount", "routes") and not listed:
                yield from self._registered(registration, "", (), 0)
        for path, names in self.world.globals.items():
            module = self.world.loaded[path]
            for values in names.values():
                for value in values:
                    if not isinstance(value, Function) or value.module is module:
                        yield from self._speaking(value)
        for registration in self.world.registrations:
            target = registration.values.get("target") if registration.kind == "server" else None
            if isinstance(target, Function | Ref):
                yield from self._speaking(target)

    def _speaking(self, value: Value) -> Iterator[Endpoint]:
        kind = speaks(self.m, value)
        if kind:
            site = _site_of(value) or (self.m.object(value).site if isinstance(value, Ref) else None)
            yield Endpoint(value, None, (), site, value.id if isinstance(value, Ref) else -1, kind)


def _itself(handler: Value) -> object:
    """What makes two handlers the same one: a function's text, however it is bound."""
    return handler.node if isinstance(handler, Function) else handler


def _innermost(value: Value) -> Function | None:
    """What stands behind decorators that say so."""
    return undecorated(value) if isinstance(value, Function) else None


def _takes_self(function: Function) -> bool:
    return bool(function.node.parameters) and function.node.parameters[0].name == "self"


def _elements(m: Machine, value: Value | None) -> list[Value]:
    if value is None:
        return []
    if isinstance(value, Ref) and m.object(value).kind in containers.KINDS:
        return list(m.object(value).elements)
    if isinstance(value, Tuple):
        return list(value.items)
    view = iteration.view_of(m, value) if not isinstance(value, Unknown) else None
    return [i.value for i in view.items] if view is not None else []


def _text(value: Value | None) -> str | None:
    if value is None:
        return ""
    if isinstance(value, Const):
        if isinstance(value.value, bytes):
            return value.value.decode("utf-8", "replace")
        return str(value.value) if value.value is not None else ""
    return None


def _joined(prefix: str | None, path: str | None) -> str | None:
    """Two pieces of an address; None where one is not known."""
    if prefix is None or path is None:
        return None
    if not path or not prefix:
        return prefix + path
    return prefix.rstrip("/") + "/" + path.lstrip("/")


def _site_of(value: Value) -> Site | None:
    if isinstance(value, Function | ClassValue):
        return Site(value.module, value.node.cst)
    if isinstance(value, Descriptor):
        return _site_of(value.function)
    return None
