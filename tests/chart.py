"""Renders the Helm chart as Helm does, by a Go template engine in Python: `helm` itself is in no package of ours.

python -m tests.chart deploy/helm/examples/small.yaml > afterturn.yaml
python -m tests.chart deploy/helm/examples/redundant.yaml deploy/kubernetes

The second writes what is applied first, and what is applied when that is done, to files of a folder.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from gotpl import Environment
from gotpl.funcs.helm import function_map
from gotpl.runtime.engine import TemplateEngine

CHART = Path(__file__).parents[1] / "deploy" / "helm"
EXAMPLES = sorted((CHART / "examples").glob("*.yaml"))


class _Files:
    """The files of the chart, as its templates ask for them."""

    def Get(self, name: str) -> str:  # noqa: N802 - as Helm calls it
        return (CHART / name).read_text()


class MissingValue(Exception):
    """A value that the chart requires is not given."""


def rendered(values: Mapping[str, Any], release: str = "afterturn") -> list[dict[str, Any]]:
    """Return the manifests of the chart with these values over its own, as `helm template` prints them.

    Raises:
        MissingValue: a template requires a value that is empty.
    """
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    data = {
        "Values": _merged(yaml.safe_load((CHART / "values.yaml").read_text()), values),
        "Release": {"Name": release, "Namespace": "default", "Service": "Helm"},
        "Files": _Files(),
        "Chart": {name[0].upper() + name[1:]: value for name, value in chart.items()},
    }
    engine: TemplateEngine

    def include(name: str, context: object) -> str:
        return str(engine.render_template(name, context))

    def required(message: str, value: object) -> object:
        if value in (None, ""):
            raise MissingValue(message)
        return value

    def fail(message: str) -> object:
        raise MissingValue(message)

    functions = function_map(include=include, tpl=_no_tpl, required=required, fail=fail)
    paths = sorted((CHART / "templates").iterdir())
    engine = Environment(functions=functions).from_sources({path.name: path.read_text() for path in paths})
    texts = [engine.render_template(path.name, data) for path in paths if path.suffix == ".yaml"]
    return [one for text in texts for one in yaml.safe_load_all(text) if one]


def _no_tpl(template: str, _context: object) -> object:
    raise NotImplementedError(f"no value of the chart is a template: {template}")


def _merged(own: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values over others, as Helm lays them: null takes out what is there."""
    merged = {name: value for name, value in own.items() if given.get(name, value) is not None}
    for name, value in given.items():
        if value is None:
            continue
        before = merged.get(name)
        merged[name] = _merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return merged


def plain_files(values: Path) -> dict[str, str]:
    """Return the manifests that need no Helm, by the name of their file: the job that comes first by itself."""
    root = CHART.parents[1]
    shown = values.relative_to(root) if values.is_relative_to(root) else values.name
    made_by = f"# Made by `python -m tests.chart {shown} deploy/kubernetes`: change the chart, not this.\n"
    manifests = rendered(yaml.safe_load(values.read_text()))
    first = [one for one in manifests if one["kind"] == "Job"]
    return {
        "migrations.yaml": made_by + _dumped(first),
        "fleet.yaml": made_by + _dumped([one for one in manifests if one not in first]),
    }


def _dumped(manifests: list[dict[str, Any]]) -> str:
    return yaml.safe_dump_all(manifests, sort_keys=False)


def main() -> None:
    """Print the manifests that the chart makes of a file of values, or write them to the files of a folder."""
    values = Path(sys.argv[1])
    if len(sys.argv) == 2:
        print(_dumped(rendered(yaml.safe_load(values.read_text()))), end="")
        return
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in plain_files(values.resolve()).items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
