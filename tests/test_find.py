"""Which files are found, and what is never entered."""

import inspect
import os
import sys

import pytest

from sselint.find import MAX_BYTES, find

HAPROXY = "defaults\n  mode http\nfrontend f\n  bind :80\n  default_backend b\nbackend b\n  server a a:80\n"
SERVER = 'from flask import Response\nR = Response("id: 1\\n\\n", mimetype="text/event-stream")\n'


def write(root, files):
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())


def kinds(root, **options):
    return {s.path: s.kind for s in find(root, [root], **options).sources}


def test_a_file_is_what_it_contains(tmp_path):
    write(tmp_path, {"lb.txt": HAPROXY, "notes.txt": "defaults are fine\n", "app.py": SERVER})
    assert kinds(tmp_path) == {"lb.txt": "haproxy", "app.py": "python"}


def test_a_template_of_a_document_is_a_document(tmp_path):
    """Look-alike: the template of a configuration is read."""
    write(tmp_path, {"README.md.gotmpl": HAPROXY, "notes.rst.j2": HAPROXY, "lb.cfg.j2": HAPROXY, "lb.tmpl": HAPROXY})
    assert kinds(tmp_path) == {"lb.cfg.j2": "haproxy", "lb.tmpl": "haproxy"}


def test_python_without_a_stream_is_left_alone(tmp_path):
    write(tmp_path, {"app.py": "print('hello')\n", "lib/util.py": "X = 1\n"})
    found = find(tmp_path, [tmp_path])
    assert found.sources == ()
    assert found.irrelevant == 2


def test_helpers_come_along_once_anything_streams(tmp_path):
    """An id may be made in a module that says nothing of streams."""
    write(tmp_path, {"app.py": SERVER, "ids.py": "import itertools\nticket = itertools.count(1)\n"})
    assert kinds(tmp_path) == {"app.py": "python", "ids.py": "python"}


@pytest.mark.parametrize("folder", [".git", ".venv", "node_modules", "x/site-packages", "__pycache__"])
def test_never_entered(tmp_path, folder):
    write(tmp_path, {f"{folder}/haproxy.cfg": HAPROXY})
    assert kinds(tmp_path) == {}


@pytest.mark.parametrize(
    ("path", "beside", "entered"),
    [
        ("build/haproxy.cfg", "build/lib/x.py", False),
        ("build/haproxy.cfg", "build/bdist.linux-x86_64/x", False),
        ("dist/haproxy.cfg", "dist/x-1.0-py3-none-any.whl", False),
        ("web/dist/haproxy.cfg", "web/dist/index.html", False),
        # Folders of the same names that people fill: images and charts to build from, units to distribute.
        ("build/haproxy.cfg", "build/docker/Dockerfile", True),
        ("dist/haproxy.cfg", "dist/feed.service", True),
    ],
)
def test_build_output_is_known_by_what_it_holds(tmp_path, path, beside, entered):
    write(tmp_path, {path: HAPROXY, beside: "x"})
    assert (path in kinds(tmp_path)) is entered


def test_a_virtual_environment_of_any_name_is_not_entered(tmp_path):
    write(tmp_path, {"tools/pyvenv.cfg": "home = /usr\n", "tools/haproxy.cfg": HAPROXY, "env/haproxy.cfg": HAPROXY})
    assert kinds(tmp_path) == {"env/haproxy.cfg": "haproxy"}


def test_gitignore_is_honoured_where_it_stands(tmp_path):
    write(
        tmp_path,
        {
            ".gitignore": "/local/\n*.bak.cfg\n",
            "local/haproxy.cfg": HAPROXY,
            "a.bak.cfg": HAPROXY,
            "deep/.gitignore": "!keep.bak.cfg\nsecret.cfg\n",
            "deep/keep.bak.cfg": HAPROXY,
            "deep/secret.cfg": HAPROXY,
            "deep/local/haproxy.cfg": HAPROXY,
        },
    )
    assert set(kinds(tmp_path)) == {"deep/keep.bak.cfg", "deep/local/haproxy.cfg"}


def test_a_gitignore_above_the_folder_counts(tmp_path):
    write(tmp_path, {".gitignore": "old.cfg\n", "svc/old.cfg": HAPROXY, "svc/new.cfg": HAPROXY})
    assert {s.path for s in find(tmp_path, [tmp_path / "svc"]).sources} == {"svc/new.cfg"}


def test_exclude_patterns_of_the_settings(tmp_path):
    write(tmp_path, {"old/haproxy.cfg": HAPROXY, "new/haproxy.cfg": HAPROXY})
    assert set(kinds(tmp_path, exclude=["old/"])) == {"new/haproxy.cfg"}


def test_links_out_of_the_root_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    write(outside, {"haproxy.cfg": HAPROXY})
    write(root, {"real.cfg": HAPROXY})
    (root / "leak.cfg").symlink_to(outside / "haproxy.cfg")
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "alias.cfg").symlink_to(root / "real.cfg")
    (root / "dangling.cfg").symlink_to(root / "gone.cfg")
    assert set(kinds(root)) == {"real.cfg", "alias.cfg"}


def test_nothing_outside_the_root_can_be_loaded(tmp_path):
    root = tmp_path / "root"
    write(root, {"a.cfg": HAPROXY})
    write(tmp_path, {"secret": "x"})
    tree = find(root, [root]).tree
    with pytest.raises(OSError, match="outside the root"):
        tree.load("../secret")


def test_units_are_the_nearest_folder_that_is_built_by_itself(tmp_path):
    write(
        tmp_path,
        {
            "a/requirements.txt": "",
            "a/deploy/haproxy.cfg": HAPROXY,
            "b/web.Dockerfile": "FROM python\n",
            "b/Dockerfile.web": "FROM python\n",
            "b/haproxy.cfg": HAPROXY,
            "haproxy.cfg": HAPROXY,
        },
    )
    units = {s.path: s.unit for s in find(tmp_path, [tmp_path]).sources if s.kind == "haproxy"}
    assert units == {"a/deploy/haproxy.cfg": "a", "b/haproxy.cfg": "b", "haproxy.cfg": "."}


def test_what_cannot_be_read_is_named(tmp_path):
    write(tmp_path, {"big.cfg": b"x" * (9 * 1024 * 1024), "binary.cfg": b"\0\1\2", "a.cfg": HAPROXY})
    found = find(tmp_path, [tmp_path])
    assert [(f.path, f.outcome.value) for f in found.files] == [("big.cfg", "too_large")]
    assert {s.path for s in found.sources} == {"a.cfg"}


def test_odd_bytes_do_not_stop_the_run(tmp_path):
    write(tmp_path, {"latin.cfg": HAPROXY.encode() + b"# \xe9\xff\n", "bom.cfg": b"\xef\xbb\xbf" + HAPROXY.encode()})
    assert set(kinds(tmp_path)) == {"latin.cfg", "bom.cfg"}


def test_links_that_lead_round_or_nowhere_lose_nothing(tmp_path):
    """Look-alike: a link to a file of the tree is read."""
    write(tmp_path, {"haproxy.cfg": HAPROXY})
    for name, target in {"a.cfg": "b.cfg", "b.cfg": "a.cfg", "self.py": "self.py", "up": "..", "gone.cfg": "x"}.items():
        (tmp_path / name).symlink_to(target)
    (tmp_path / "edge.cfg").symlink_to("haproxy.cfg")
    assert kinds(tmp_path) == {"edge.cfg": "haproxy", "haproxy.cfg": "haproxy"}


def test_folders_deeper_than_the_stack_of_python(tmp_path):
    write(tmp_path, {"d/" * 300 + "haproxy.cfg": HAPROXY})
    find(tmp_path, [tmp_path])  # what is imported on the way needs more stack than the walk
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack()) + 150)
        found = find(tmp_path, [tmp_path])
    finally:
        sys.setrecursionlimit(limit)
    assert [s.kind for s in found.sources] == ["haproxy"]


def test_a_pipe_is_never_waited_for(tmp_path):
    """Not where one stands among the files, and not where a text names one."""
    write(tmp_path, {"haproxy.cfg": HAPROXY})
    os.mkfifo(tmp_path / "pipe.cfg")
    found = find(tmp_path, [tmp_path])
    assert [s.path for s in found.sources] == ["haproxy.cfg"]
    with pytest.raises(OSError, match="pipe"):
        found.tree.load("pipe.cfg")


@pytest.mark.parametrize(
    "path", ["../outside.cfg", "link.cfg", "sub/link.cfg", "sub/../../outside.cfg", "..", "/etc/passwd"]
)
def test_no_path_leads_out_of_the_root(tmp_path, path):
    root = tmp_path / "root"
    write(tmp_path, {"outside.cfg": HAPROXY, "root/sub/haproxy.cfg": HAPROXY})
    (root / "link.cfg").symlink_to("../outside.cfg")
    (root / "sub" / "link.cfg").symlink_to(tmp_path / "outside.cfg")
    found = find(root, [root])
    assert [s.path for s in found.sources] == ["sub/haproxy.cfg"]
    assert found.tree.load("sub/../sub/haproxy.cfg") == HAPROXY.encode()
    with pytest.raises(OSError, match="outside"):
        found.tree.load(path)


def test_a_file_over_budget_is_not_loaded_by_an_include_either(tmp_path):
    write(tmp_path, {"haproxy.cfg": HAPROXY, "big.cfg": b"#" * (MAX_BYTES + 1)})
    found = find(tmp_path, [tmp_path])
    assert [(f.path, f.outcome.value) for f in found.files] == [("big.cfg", "too_large")]
    with pytest.raises(OSError, match="larger"):
        found.tree.load("big.cfg")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-8"])
def test_text_as_windows_writes_it(tmp_path, encoding):
    """PowerShell's `>` writes UTF-16 with its mark, which YAML allows. Look-alike: other bytes with NULs."""
    compose = "services:\n  app:\n    image: app\n"
    write(tmp_path, {"compose.yaml": compose.encode(encoding), "other.yaml": compose.encode("utf-32")})
    (source,) = find(tmp_path, [tmp_path]).sources
    assert (source.kind, source.text) == ("compose", compose)


def test_a_line_of_gitignore_that_is_no_pattern_loses_no_other(tmp_path):
    write(tmp_path, {".gitignore": "!\n/local/\n", "local/haproxy.cfg": HAPROXY, "haproxy.cfg": HAPROXY})
    assert kinds(tmp_path) == {"haproxy.cfg": "haproxy"}
