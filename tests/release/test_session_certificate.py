"""The curator's figure against the belief, unit by unit."""

from __future__ import annotations

import numpy as np
import pytest

from pacsklearn import SecretSpace
from pacsklearn.core.metric import IdentityMetric
from pacsklearn.core.support import Support
from pacsklearn.core.target import Target
from pacsklearn.noise.logdet import LogdetBackend
from pacsklearn.release import session_certificate
from pacsklearn.release.session_certificate import SessionCertificate, curator_figure

SPACE = SecretSpace.balanced(60, n_subsets=16)
GENERATOR = np.random.default_rng(0)
BELIEF = GENERATOR.dirichlet(np.full(16, 0.5))


def law_of(budget: float):
    support = Support(SPACE.membership().T @ GENERATOR.standard_normal((60, 3)))
    return LogdetBackend().calibrate(support, Target(budget), IdentityMetric())


@pytest.mark.parametrize("chunk", [1, 7, 60, 1000])
@pytest.mark.parametrize("size", [1.0, 1 / 3, 8.0])
def test_how_sure_the_adversary_is_of_each_unit(
    chunk: int, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_certificate, "_CHUNK", chunk)
    figure = curator_figure(SessionCertificate(), SPACE, BELIEF * size, 0.9, 0, 0)
    inside = [sum(BELIEF[SPACE.membership()[unit]]) for unit in range(60)]
    sure = [max(share, 1 - share) for share in inside]
    assert figure.worst == pytest.approx(max(sure), rel=1e-12)
    assert figure.average == pytest.approx(sum(sure) / 60, rel=1e-12)
    assert (figure.blind, figure.implied, figure.laws, figure.n_releases) == (0.5, 0.9, None, 0)
    assert figure.missing == "nothing was released"


def test_laws_of_several_releases_are_certified_together() -> None:
    certificate = SessionCertificate()
    laws = law_of(0.1), law_of(0.2)
    alone = []
    for law in laws:
        single = SessionCertificate()
        single.note(law)
        (figure, _) = single.under_all(SPACE, 1)
        alone.append(figure.success)
        certificate.note(law)
    figure = curator_figure(certificate, SPACE, BELIEF, 0.9, 2, 2)
    assert max(alone) < figure.laws < 1
    assert (figure.confidence, figure.missing) == (1 - 1e-6, "")
    # One charge more than laws: answers, or what came before the session was loaded.
    certified, missing = certificate.under_all(SPACE, 3)
    assert certified is None
    assert "not kept as laws" in missing
    assert certificate.under_all(SPACE, 1)[0] == certificate.under_all(SPACE, 2)[0]
