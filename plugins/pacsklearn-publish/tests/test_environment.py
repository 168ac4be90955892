from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

from pacsklearn_publish.publishing import bill_of_materials

from pacsklearn.kernel.ledger.event import Provenance


def test_what_is_needed_is_listed_with_its_version():
    plugin = Provenance("mine", "skops", "1.0", "skops:thing")
    document = bill_of_materials("Iris", [plugin])
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    found = {part["name"]: part["version"] for part in document["components"]}
    for name in ("pacsklearn", "scikit-learn", "numpy", "skops", "opendp"):
        assert found[name] == metadata.version(name)
    assert "pytest" not in found  # of an extra
    places = [part["bom-ref"] for part in document["components"]]
    assert len(set(places)) == len(places)
    assert set(document["dependencies"][0]["dependsOn"]) == set(places)
    text = json.dumps(document)
    for place in (sys.prefix, str(Path.home()), str(Path.cwd())):
        assert place not in text
