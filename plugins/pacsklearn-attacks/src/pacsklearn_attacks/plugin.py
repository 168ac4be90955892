"""What this distribution adds to pacsklearn."""

from __future__ import annotations

from pacsklearn.plugins import AttackRecord, hookimpl


@hookimpl
def pacsklearn_attacks() -> list[AttackRecord]:
    """Attacks of this distribution."""
    return [
        AttackRecord(
            "known_rows",
            "pacsklearn_attacks:KnownRowsAttack",
            "one unit's membership, knowing that of k others",
        ),
        AttackRecord(
            "figures",
            "pacsklearn_attacks:FiguresAttack",
            "a secret about the data, by what is printed beside the release",
        ),
        AttackRecord(
            "loss_threshold",
            "pacsklearn_attacks:LossThresholdAttack",
            "one unit's membership, by the loss of the published model",
        ),
        AttackRecord(
            "reconstruction",
            "pacsklearn_attacks:ReconstructionAttack",
            "a whole subset with many of its rows right",
        ),
        AttackRecord(
            "canaries",
            "pacsklearn_attacks:CanaryAttack",
            "the membership of outliers that are put in to be found",
        ),
        AttackRecord(
            "low_order_bits",
            "pacsklearn_attacks:LowOrderBitsAttack",
            "the whole secret, by numbers without noise or with floating-point noise",
        ),
        AttackRecord(
            "rmia",
            "pacsklearn_attacks:RMIAAttack",
            "one unit's membership, judged against how other rows fare",
        ),
        AttackRecord(
            "robust_lira",
            "pacsklearn_attacks:RobustLiRAAttack",
            "one unit's membership, by few models whose rows are known",
        ),
        AttackRecord(
            "quantile",
            "pacsklearn_attacks:QuantileAttack",
            "one unit's membership, by the confidence that such rows usually get",
        ),
        AttackRecord(
            "label_only",
            "pacsklearn_attacks:LabelOnlyAttack",
            "one unit's membership, by predicted labels alone",
        ),
        AttackRecord(
            "property",
            "pacsklearn_attacks:PropertyAttack",
            "a property of all rows that were used",
        ),
        AttackRecord(
            "attribute",
            "pacsklearn_attacks:AttributeAttack",
            "one attribute of a record whose other attributes are known",
        ),
        AttackRecord(
            "record",
            "pacsklearn_attacks:RecordAttack",
            "the one unknown record, from a linear model or a PCA",
        ),
        AttackRecord(
            "poisoning",
            "pacsklearn_attacks:PoisoningAttack",
            "one unit's membership, by rows put in and queries",
        ),
        AttackRecord(
            "prices",
            "pacsklearn_attacks:PricesAttack",
            "one unit's membership, by what answers cost and when they stop",
        ),
        AttackRecord(
            "existence",
            "pacsklearn_attacks:ExistenceAttack",
            "whether a row was in the universe at all",
        ),
    ]
