from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import pytest

from pacsklearn.audit.attack import AttackResult
from pacsklearn.audit.audit_record import Audit
from pacsklearn.audit.roc_curve import AttackROC
from pacsklearn.plots.audit import AuditDisplay

RESULTS = (
    AttackResult("optimal_membership", "membership of one unit", 400, 260, 0.5, 0.7),
    AttackResult("lira", "membership of one unit", 400, 380, 0.5, 0.7),
    AttackResult("other", "something else", 400, 20, 0.1, None),
)
CURVE = AttackROC.of("lira", [3.0, 2.0, 1.0, 0.0], [True, True, False, True])


@pytest.fixture
def audit():
    return Audit("a model", RESULTS, 0.999, 0.1, 16, 40, 0, (CURVE,))


def test_curves_are_counted_by_hand():
    assert CURVE.false_positive_rate == (0, 0, 0, 1, 1)
    assert CURVE.true_positive_rate == pytest.approx((0, 1 / 3, 2 / 3, 2 / 3, 1))
    tied = AttackROC.of("x", [1, 1, 0], [True, False, False])
    assert tied.false_positive_rate == (0, 0.5, 1)
    assert tied.true_positive_rate == (0, 1, 1)


def test_success_stands_beside_the_bound(audit):
    display = AuditDisplay.from_audit(audit)
    success, characteristics = display.axes_
    labels = [tick.get_text() for tick in success.get_yticklabels()]
    assert labels[0].startswith("optimal_membership\nmembership of one unit")
    assert labels[1].endswith("REFUTED")
    assert "REFUTED" not in labels[0] + labels[2]
    marks = [line for line in success.get_lines() if line.get_marker() == "d"]
    assert [mark.get_xdata()[0] for mark in marks if len(mark.get_xdata())] == [70, 70]
    low, high = (100 * end for end in audit.interval(RESULTS[0]))
    (bar,) = success.containers[0].lines[2]
    segment = bar.get_segments()[0]
    assert segment[:, 0] == pytest.approx([low, high])
    assert success.get_xlabel() == "success (% of rounds)"
    axes = characteristics.get_xlabel(), characteristics.get_ylabel()
    assert axes == ("false alarms (%)", "members found (%)")
    titles = success.get_title(), characteristics.get_title()
    assert titles == ("Success of each attack", "Membership of one unit")


def test_the_limit_line_is_the_bounds_advantage(audit):
    lines = {line.get_label(): line for line in AuditDisplay.from_audit(audit).axes_[1].get_lines()}
    limit = lines["limit of the guarantee"]
    assert list(limit.get_ydata()) == pytest.approx([40, 100])
    assert list(limit.get_xdata()) == pytest.approx([0, 60])
    assert list(lines["lira"].get_ydata())[-1] == 100


def test_nothing_overlaps(audit):
    display = AuditDisplay.from_audit(audit)
    display.figure_.canvas.draw()
    legend = display.axes_[0].get_legend().get_window_extent()
    assert legend.y1 <= display.axes_[0].xaxis.label.get_window_extent().y0
    assert legend.y0 >= 0
    boxes = [tick.get_window_extent() for tick in display.axes_[0].get_yticklabels()]
    assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))


def test_an_audit_is_drawn_on_axes_that_are_given(audit):
    figure, axes = plt.subplots(1, 2)
    assert AuditDisplay.from_audit(audit, axes).figure_ is figure
