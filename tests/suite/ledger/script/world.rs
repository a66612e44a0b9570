//! The world of the scripts, itself a script, and the sites that it stands on.

use bank_core::directory::{FallbackMode, Policy, SelectionOrder};
use bank_core::exact::Rounding;
use bank_core::terms::{Excess, Overlap, Shortfall};

/// What the sites set.
pub(crate) const SITES: [&str; 4] = [
    "the defaults",
    "order hierarchy-first, liens that must be covered, overlaps refused, half_up, excess accepted",
    "the bank's own fallback, also for what a charge is short of, later credits pay, ceil",
    "allocations that do not overlap, charges refused where money is short, excess refused",
];

/// The settings of a site.
pub(crate) fn site(number: usize) -> Policy {
    let usual = Policy::default();
    match number {
        1 => Policy {
            order: SelectionOrder::HierarchyFirst,
            require_cover: true,
            overlap: Overlap::Reject,
            rounding: Rounding::HalfUp,
            excess: Excess::Accept,
            ..usual
        },
        2 => Policy {
            fallback: FallbackMode::Bank,
            shortfall: Shortfall::Fallback,
            later_credits_pay: true,
            rounding: Rounding::Ceil,
            ..usual
        },
        3 => Policy {
            discrete: true,
            shortfall: Shortfall::Reject,
            excess: Excess::Refuse,
            ..usual
        },
        _ => usual,
    }
}

/// Projects P (strict, below TOP), N (notional), T (track), X (fast), W (without an account); amy
/// and bob are members, dave of nothing. Half a credit per processor-second, so that rounding
/// matters.
pub(crate) const WORLD: [&str; 47] = [
    "user add amy",
    "user add bob organization=lab",
    "user add dave",
    "machine add colony source=slurm fallback-qos=low",
    "machine add blue source=nami",
    "project add TOP",
    "project add P parent=TOP",
    "project add N mode=notional",
    "project add T mode=track",
    "project add X mode=fast",
    "project add W",
    "member P amy on",
    "member P bob on",
    "member N amy on",
    "member T amy on",
    "member X amy on",
    "member W amy on",
    "user set bob default=P",
    "rate set VBR Processors 0.5",
    "rate set NBM QualityOfService=Premium 2",
    "rate set NBF Zone=Asia 3",
    "rate set NBM QualityOfService=low 0.5",
    "account add Q ; -p P -u MEMBERS",
    "account add A ; -p P",
    "account add B ; -p P -u amy -m colony",
    "account add C ; -p P -u MEMBERS,-amy",
    "account add D ; -p TOP/ -u ANY",
    "account add E ; -p P -u ANY --class batch",
    "account add F ; -p TOP -u bob",
    "account add N ; -p N",
    "account add T ; -p T",
    "account add X ; -p X",
    "account set A parent=Q share=30 overflow=yes",
    "account set D priority=1",
    "account set B fallback=F",
    "account set A fallback=F",
    "deposit A 60 alone",
    "deposit A 40 [2026,T0+900) alone",
    "deposit B 30 [,) L=20",
    "deposit C 50 [T0+300,T0+3000)",
    "deposit D 15",
    "deposit E 25 [,T0+5000)",
    "deposit F 90",
    "deposit Q 20 alone",
    "deposit N 20",
    "deposit T 1",
    "deposit X 25",
];
