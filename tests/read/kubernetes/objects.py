"""Manifests written short."""

from __future__ import annotations

from textwrap import dedent, indent


def deployment(spec: str = "", container: str = "", kind: str = "Deployment", name: str = "web") -> str:
    """A workload with lines added to its spec and to its container."""
    return (
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n"
        + _lines(spec, 2)
        + f"  selector: {{matchLabels: {{app: {name}}}}}\n"
        + f"  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n"
        + f"      containers:\n        - name: {name}\n          image: shop/{name}:1\n"
        + _lines(container, 10)
    )


def service(spec: str = "", name: str = "web", selects: str = "web") -> str:
    """A Service that selects the pods of a workload."""
    head = f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec:\n  selector: {{app: {selects}}}\n"
    return head + "  ports: [{port: 80, targetPort: 8000}]\n" + _lines(spec, 2)


def ingress(annotations: str = "", spec: str = "ingressClassName: nginx", service: str = "web") -> str:
    """An Ingress with one rule in front of a Service."""
    backend = f"{{service: {{name: {service}, port: {{number: 80}}}}}}"
    return (
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: edge\n"
        + ("  annotations:\n" + _lines(annotations, 4) if annotations else "")
        + "spec:\n"
        + _lines(spec, 2)
        + "  rules:\n    - host: shop.test\n      http:\n        paths:\n"
        + f"          - {{path: /events, pathType: Prefix, backend: {backend}}}\n"
    )


def together(*documents: str) -> dict[str, str]:
    """The documents as one file."""
    return {"k8s.yaml": "---\n".join(documents)}


def _lines(text: str, width: int) -> str:
    return indent(dedent(text).strip("\n"), " " * width) + "\n" if text.strip() else ""
