"""What an installation is made of: a bill of materials from the lock, and whether it may be used.

    python -m tests.supply_chain sbom afterturn.cdx.json
    python -m tests.supply_chain licences
    python -m tests.supply_chain vulnerabilities

All read `requirements.lock`, which the image is installed from, the metadata of what is installed here, and what is
`VENDORED`.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import typer
import yaml

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"

ALLOWED = (
    "0BSD",
    "Apache-2.0",
    "BlueOak-1.0.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CNRI-Python",
    "HPND",
    "ISC",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "MPL-2.0",
    "PSF-2.0",
    "Python-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
)
"""Licences, by SPDX, under which a package may be used beside Apache-2.0 without a change to ours: the LGPL and the MPL
because nothing of their files is changed or built in."""
_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.1-or-later",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
_WORDS = {
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "mit license": "MIT",
    "the mit license": "MIT",
}
"""As the field `License` of older metadata says it."""

STATIC = ROOT / "interfaces" / "http" / "pages" / "static"


@dataclass(frozen=True)
class Vendored:
    """Files of a package of the npm registry that lie in `STATIC` as it has them, with their SHA-256, beside its
    licence in `<name>-<version>.LICENSE.txt`."""

    name: str
    npm: str
    version: str
    licence: str
    files: dict[str, str]


VENDORED = (
    Vendored(
        "htmx",
        "htmx.org",
        "4.0.1",
        "0BSD",
        {
            "htmx-4.0.1.min.js": "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
            "hx-sse-4.0.1.min.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
        },
    ),
    Vendored(
        "pico",
        "@picocss/pico",
        "2.1.1",
        "MIT",
        {"pico-2.1.1.min.css": "fbc9a63fc9fc9f72d12fd7fc9806e11fa9f77ae4f9cad146b27003a1119ba3db"},
    ),
)
"""What the pages have of others, without a package manager: `dist/htmx.min.js`, `dist/ext/hx-sse.min.js` and
`css/pico.min.css` of the packages."""

OSV = "https://api.osv.dev/v1/querybatch"
_SECONDS = 20.0
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?: *; *([^\\]+))?", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")

app = typer.Typer(help=__doc__, add_completion=False)


@dataclass(frozen=True)
class Package:
    """A package of the lock: the SHA-256 of each file that may be installed, and where alone it is needed."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def version_of_next_release() -> str:
    """Return the version that chart, compose and image are written for; a package has that of its tag."""
    return str(yaml.safe_load((ROOT / "deploy" / "helm" / "Chart.yaml").read_text())["appVersion"])


def locked(lock: Path = LOCK) -> list[Package]:
    """Return what a lock file pins, in its order."""
    text = lock.read_text()
    found = list(_PINNED.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [
        Package(match[1].lower(), match[2], (match[3] or "").strip(), tuple(_HASH.findall(text[match.end() : end])))
        for match, end in zip(found, ends, strict=True)
    ]


def licence_of(name: str) -> str | None:
    """Return a package's licence as an SPDX expression, or as it says it; None where it is not installed here."""
    try:
        found: Any = metadata(name)
    except PackageNotFoundError:
        return None
    if expression := found.get("License-Expression"):
        return str(expression)
    classified = [
        _CLASSIFIERS.get(line.rpartition(" :: ")[2], line.rpartition(" :: ")[2])
        for line in found.get_all("Classifier") or []
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    if classified:
        return " OR ".join(dict.fromkeys(classified))
    said = (found.get("License") or "").strip().splitlines()
    return _WORDS.get(said[0].strip().lower(), said[0].strip()) if said else "unknown"


def is_allowed(expression: str) -> bool:
    """Return whether one of the alternatives asks for allowed licences only."""
    plain = re.sub(r"[()]", " ", expression)
    return any(
        all(part.split(" WITH ")[0].strip() in ALLOWED for part in alternative.split(" AND "))
        for alternative in plain.split(" OR ")
    )


def bill(packages: list[Package]) -> dict[str, Any]:
    """Return the bill of materials, in CycloneDX 1.6: the same lock makes the same bill."""
    release = version("afterturn")
    name = f"afterturn@{release}"
    serial = uuid.uuid5(uuid.NAMESPACE_URL, name + "".join(digest for one in packages for digest in one.hashes))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f"pkg:pypi/{name}",
                "name": "afterturn",
                "version": release,
                "purl": f"pkg:pypi/{name}",
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [*map(_component, packages), *map(_vendored_component, VENDORED)],
        "dependencies": [
            {"ref": f"pkg:pypi/{name}", "dependsOn": [f"pkg:pypi/{one.name}@{one.version}" for one in packages]}
        ],
    }


def vulnerable(packages: list[Package], url: str = OSV) -> list[str]:
    """Return a line for each locked or vendored package that OSV, a public list, knows a vulnerability of.

    Raises:
        OSError: the list cannot be reached, or refuses.
        ValueError: what answers there is no such list.
    """
    components = [*map(_component, packages), *map(_vendored_component, VENDORED)]
    purls = [str(component["purl"]) for component in components]
    query = json.dumps({"queries": [{"package": {"purl": purl}} for purl in purls]}).encode()
    with urlopen(Request(url, query, {"Content-Type": "application/json"}), timeout=_SECONDS) as answer:
        found = json.load(answer)
    results = found.get("results") if isinstance(found, dict) else None
    if not isinstance(results, list) or len(results) != len(purls):
        raise ValueError("it answers with something else")
    return [
        f"{purl}: {', '.join(str(one['id']) for one in result['vulns'])}"
        for purl, result in zip(purls, results, strict=True)
        if result.get("vulns")
    ]


def _component(package: Package) -> dict[str, Any]:
    purl = f"pkg:pypi/{package.name}@{package.version}"
    licence = licence_of(package.name)
    return {
        "type": "library",
        "bom-ref": purl,
        "name": package.name,
        "version": package.version,
        "purl": purl,
        **({"scope": "optional"} if package.marker else {}),
        **({"licenses": [{"license": {"name": licence}}]} if licence else {}),
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{package.name}/{package.version}/",
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }
            for digest in package.hashes
        ],
    }


def _vendored_component(package: Vendored) -> dict[str, Any]:
    purl = f"pkg:npm/{quote(package.npm, safe='/')}@{package.version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": package.npm,
        "version": package.version,
        "purl": purl,
        "licenses": [{"license": {"id": package.licence}}],
        "components": [
            {"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}
            for name, digest in package.files.items()
        ],
    }


def refused(packages: list[Package]) -> Iterator[str]:
    """Yield a line for each package whose licence is not allowed, or not known here though it is installed here."""
    for package in packages:
        licence = licence_of(package.name)
        if licence is None and not package.marker:
            yield f"{package.name}: not installed here, so that its licence is not known: make install"
        elif licence is not None and not is_allowed(licence):
            yield f"{package.name} {package.version}: {licence}"
    yield from (f"{one.npm} {one.version}: {one.licence}" for one in VENDORED if not is_allowed(one.licence))


@app.command()
def sbom(file: Annotated[Path, typer.Argument(help="Where to write it.")]) -> None:
    """Write the bill of materials of what is locked."""
    packages = locked()
    file.write_text(json.dumps(bill(packages), indent=2) + "\n")
    typer.echo(f"{file}: {len(packages)} packages")


@app.command()
def licences() -> None:
    """List the licence of every locked and vendored package; the exit code is 1 where one may not be used."""
    packages = locked()
    for package in packages:
        typer.echo(f"{licence_of(package.name) or 'not for this platform':40} {package.name} {package.version}")
    for one in VENDORED:
        typer.echo(f"{one.licence:40} {one.npm} {one.version} ({', '.join(one.files)})")
    if lines := list(refused(packages)):
        sys.exit("may not be used, or nobody has looked (tests/supply_chain.py, ALLOWED):\n" + "\n".join(lines))


@app.command()
def vulnerabilities(url: Annotated[str, typer.Option(help="Of OSV, or a mirror of it.")] = OSV) -> None:
    """Name what is locked that has a known vulnerability; the exit code is 1 then. Where the list cannot be had, say
    so: that is no reason to fail, and none to be at ease."""
    packages = locked()
    try:
        lines = vulnerable(packages, url)
    except (OSError, ValueError) as error:
        typer.echo(f"NOT LOOKED FOR: known vulnerabilities of dependencies, for {url} cannot be asked ({error})")
        return
    if lines:
        sys.exit("known vulnerabilities (https://osv.dev tells more):\n" + "\n".join(lines))
    typer.echo(f"no known vulnerability of {len(packages) + len(VENDORED)} packages, says {url}")


if __name__ == "__main__":
    app()
