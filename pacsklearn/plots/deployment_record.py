"""A guarantee in the fields of the registry of deployments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pacsklearn.plots.privacy_statement import guarantee_of


def deployment_record(
    source: Any,
    *,
    name: str,
    data_curators: Iterable[str],
    intended_use: str,
    description: str = "",
    delta: float = 0.0,
) -> dict[str, Any]:
    """Return the entry for the registry of deployments that NIST and OpenDP keep.

    Parameters
    ----------
    source : fitted estimator, release, session or guarantee
    name : str
        Of the data product.
    data_curators : iterable of str
    intended_use : str
    description : str, default=""
    delta : float, default=0.0
        For the epsilon of the comparison.

    Returns
    -------
    dict
        Plain data, to be written as YAML. Fields that a guarantee does not determine, the sector
        and the date say, are left out: who enters it fills them in.

    Notes
    -----
    The registry is about differential privacy, which a PAC-private release is not: the field
    ``dp_flavor`` says so in its name, ``privacy_parameters`` holds the parameters that the promise
    is stated in, and the epsilon of equal membership success is in the description of the
    parameters alone.
    """
    guarantee = guarantee_of(source)
    parameters: dict[str, Any] = {
        "definition": guarantee.definition,
        "bound": guarantee.spent,
        "unit": guarantee.unit,
        "confidence": guarantee.confidence,
    }
    further, text = guarantee.beside_dp(delta)
    parameters |= further
    return {
        "status": "Draft",
        "deployment": {
            "product": {
                "name": name,
                "data_curators": list(data_curators),
                "intended_use": intended_use,
                "data_product_type": "Machine learning model",
                "description": description or guarantee.promise,
            },
            "dp_flavor": {
                "name": f"None: {guarantee.name}",
                "unprotected_quantities": "; ".join(guarantee.public) or "none",
            },
            "privacy_loss": {
                "privacy_unit": guarantee.secret.unit,
                "privacy_unit_description": guarantee.promise,
                "privacy_parameters": parameters,
                "privacy_parameters_description": text,
            },
            "model": {
                "model_name": "Central",
                "release_type": "One release" if guarantee.n_releases <= 1 else "Several releases",
            },
            "accounting": {
                "composition": f"{guarantee.n_releases} release(s) on one ledger: {guarantee.bound}"
            },
            "implementation": {
                "mechanisms": f"{guarantee.noise} noise on {', '.join(guarantee.released)}",
                "justification": "; ".join(guarantee.sources),
            },
        },
    }
