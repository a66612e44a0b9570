//! Instances are made, hold money and are closed (ledger.md 2.7).

use super::lien::{Again, Placed};
use super::money::short;
use super::who::Fit;
use super::{Answer, Facts, Instance, Lien, Naive};
use crate::ledger::reply::refused;
use bank_core::command::{AfterEnd, Charge, Close, Command, Create, Repeat, Request, Reserve};
use bank_core::directory::FallbackMode;
use bank_core::model::{Closing, Mode};
use bank_core::time::{Seconds, Timestamp};

/// Older uses of an id than so many are out of sight.
const USES: usize = 4;

impl Naive {
    /// The uses of an object's id, the newest first.
    pub(super) fn uses(&self, machine: &str, id: &str) -> Vec<usize> {
        let all = self.instances.iter().enumerate().rev();
        let own = all.filter(|(_, i)| i.machine == machine && i.id == id);
        own.map(|(n, _)| n).take(USES).collect()
    }

    pub(super) fn new_instance(&mut self, request: &Request, at: Timestamp) -> usize {
        self.instances.push(Instance {
            machine: request.whose.machine.clone(),
            id: request.object_id.clone(),
            opened: at,
            closed: None,
            expired: None,
            is_ended: false,
            is_deleted: false,
            account: None,
            fallback_from: None,
            facts: Facts::default(),
            metered: 0,
            once: 0,
            billed: 0,
            shadow_billed: 0,
            seconds: 0,
            rates_at: None,
            quote: None,
            is_absorbed: false,
            lien_expired: false,
            due: None,
            began: None,
            earliest: None,
            is_charged: false,
            used_until: None,
            disputed: 0,
            mode: None,
            kept: 0,
            lien: None,
            used: Vec::new(),
        });
        self.instances.len() - 1
    }

    fn open_or_new(&mut self, request: &Request, at: Timestamp) -> usize {
        let open = self
            .newest(request)
            .filter(|n| self.instances[*n].closed.is_none());
        open.unwrap_or_else(|| self.new_instance(request, at))
    }

    /// What a document says is kept; what it does not say stays.
    pub(super) fn keep(&mut self, n: usize, request: &Request) {
        let named = self.find(&request.whose).named;
        let mut usage = request.facts.usage.clone();
        let facts = &mut self.instances[n].facts;
        usage.processors = usage.processors.or(facts.usage.processors);
        usage.qos = usage.qos.or(facts.usage.qos.take());
        usage.class = usage.class.or(facts.usage.class.take());
        if usage.gres.is_empty() {
            usage.gres = std::mem::take(&mut facts.usage.gres);
        }
        for (name, value) in std::mem::take(&mut facts.usage.attributes) {
            let is_new = |(own, _): &(String, String)| !own.eq_ignore_ascii_case(&name);
            if usage.attributes.iter().all(is_new) {
                usage.attributes.push((name, value));
            }
        }
        facts.usage = usage;
        facts.start = request.facts.start.or(facts.start);
        facts.end = request.facts.end.or(facts.end);
        facts.counted = None;
        let is_named = request.whose.project.is_some() || facts.project.is_empty();
        if is_named && !named.is_empty() {
            facts.project = named;
        }
        if let Some(user) = &request.whose.user {
            facts.user.clone_from(user);
        }
        if !request.facts.group.is_empty() {
            facts.group.clone_from(&request.facts.group);
        }
    }

    /// A document that repeats or was overtaken changes no known times. A person reports the time of each charge, and the use
    /// has all of it.
    pub(super) fn keep_all(&mut self, charge: &Charge, n: usize, is_past: bool) {
        let Facts { start, end, .. } = self.instances[n].facts;
        if charge.terms.finished.is_some() {
            let usage = &mut self.instances[n].facts.usage;
            (usage.gres, usage.attributes) = (Vec::new(), Vec::new());
        }
        self.keep(n, &charge.request);
        if is_past {
            let facts = &mut self.instances[n].facts;
            (facts.start, facts.end) = (start.or(facts.start), end.or(facts.end));
        } else if charge.terms.source.is_none() && charge.terms.finished.is_none() {
            let facts = &mut self.instances[n].facts;
            facts.start = start.into_iter().chain(facts.start).min();
            facts.end = end.max(facts.end);
        }
    }

    pub(super) fn happened(&self, at: Option<Timestamp>) -> Timestamp {
        at.map_or(self.now, |at| at.min(self.now))
    }

    /// An open instance without a lien waits for its next document; a late one does not make the
    /// wait shorter.
    pub(super) fn wait(&mut self, n: usize, at: Timestamp, idle: Seconds) {
        let due = at.plus(idle);
        let i = &mut self.instances[n];
        if i.closed.is_none() && i.lien.is_none() && !i.lien_expired {
            i.due = Some(i.due.map_or(due, |known| known.max(due)));
        }
    }

    /// A create that happened before the newest use closed was overtaken by its end: it begins
    /// nothing.
    pub(super) fn create(&mut self, create: &Create) -> Answer {
        let request = &create.request;
        let at = self.happened(request.event_time);
        let newest = self.newest(request);
        let closed = newest.and_then(|n| self.instances[n].closed);
        if closed.is_some_and(|closed| at < closed) {
            return Ok("created".to_owned());
        }
        let n = self.open_or_new(request, at);
        let mode = self.mode_of(n, request);
        self.keep(n, request);
        let i = &mut self.instances[n];
        if !i.is_charged && i.began.is_none() {
            i.earliest = Some(i.earliest.map_or(at, |known| known.min(at)));
        }
        let usable = self.usable(&request.whose, &self.instances[n].facts);
        if let (Err(refusal), false) = (usable, mode.is_shadow()) {
            return Err(refusal);
        }
        self.wait(n, at, self.policy.idle);
        self.begin("create", at);
        self.promise_tid(create, n)?;
        Ok("created".to_owned())
    }

    /// A use that was charged stays in the mode of that.
    fn mode_of(&self, n: usize, request: &Request) -> Mode {
        let own = self.instances[n].mode;
        own.unwrap_or_else(|| self.mode(&self.find(&request.whose)))
    }

    /// What a document says is kept; of a use that is over nothing is.
    pub(super) fn modify(&mut self, request: &Request) -> String {
        let at = self.happened(request.event_time);
        let uses = self.uses(&request.whose.machine, &request.object_id);
        let newest = uses.first().copied();
        let open = newest.filter(|n| self.instances[*n].closed.is_none());
        let grace = self.policy.close_grace;
        let is_meant = |n: &&usize| {
            let closed = self.instances[**n].closed;
            closed.is_some_and(|closed| at <= closed.plus(grace))
        };
        let over = uses.iter().find(is_meant).copied();
        let n = open
            .or(over)
            .unwrap_or_else(|| self.new_instance(request, at));
        if self.instances[n].closed.is_none() {
            self.keep(n, request);
        }
        self.wait(n, at, self.policy.idle);
        self.begin("modify", at);
        "done".to_owned()
    }

    /// A charge that came again is journalled, and moves nothing.
    pub(super) fn repeat(&mut self, repeat: &Repeat) -> Answer {
        let uses = self.uses(&repeat.key.machine, &repeat.key.object_id);
        uses.first().ok_or_else(|| refused("not_found"))?;
        self.begin("repeat", self.now);
        Ok("came again".to_owned())
    }

    fn newest(&self, request: &Request) -> Option<usize> {
        let uses = self.uses(&request.whose.machine, &request.object_id);
        uses.first().copied()
    }

    /// From when on an instance can have been used (nami.md 1.4).
    pub(super) fn note_start(&mut self, n: usize, at: Option<Timestamp>) {
        let i = &mut self.instances[n];
        if at.is_some() && !i.is_charged {
            i.earliest = None;
        }
        let began = &mut i.began;
        *began = [*began, at].into_iter().flatten().min();
    }

    pub(super) fn close(&mut self, close: &Close) -> String {
        let closed = self.close_found(close, true);
        let answer = |(_, released)| format!("closed, released {released}");
        closed.map_or_else(|| "nothing open".to_owned(), answer)
    }

    /// Closes the use that was open then; says which, and what its lien gave back.
    pub(super) fn close_found(&mut self, close: &Close, waits: bool) -> Option<(usize, i64)> {
        let at = self.happened(close.event_time);
        let uses = self.uses(&close.key.machine, &close.key.object_id);
        let was_open = |n: &usize| {
            let i = &self.instances[*n];
            i.closed.is_none() && i.opened <= at
        };
        let n = uses.into_iter().find(was_open)?;
        self.begin("delete", at);
        let released = if waits && self.instances[n].kept > 0 {
            self.hold_cost(n)
        } else {
            self.end_lien(n, "released")
        };
        self.instances[n].closed = Some(at);
        self.instances[n].is_ended = close.by == Closing::End;
        self.instances[n].is_deleted = close.by == Closing::Delete;
        let lien = self.instances[n].lien;
        self.instances[n].due = lien.map(|lien| self.liens[lien].end);
        Some((n, released))
    }

    pub(super) fn lien_grace(&self, machine: &str, with_flushes: bool) -> Seconds {
        let flush = self.machine(machine).map_or(3600, |m| m.flush_seconds);
        let flushes = if with_flushes { 2 * flush } else { 0 };
        self.policy.lien_grace.plus(Seconds(flushes))
    }

    /// A start that arrives late: for the newest use if that was open then, or for one that `end`
    /// closed within the grace and that ended no earlier than the start says; without a start only
    /// the newest use can be meant (decisions.md 13, note 0024).
    fn absorbs(&self, reserve: &Reserve, at: Timestamp) -> Option<usize> {
        let request = &reserve.request;
        let mut uses = self.uses(&request.whose.machine, &request.object_id);
        let newest = &self.instances[*uses.first()?];
        if newest.closed.is_some_and(|c| newest.opened <= at && at < c) {
            return Some(uses[0]);
        }
        if let Some(later) = self.ended_after(&uses, at)
            && reserve.after_end != AfterEnd::Begins
        {
            return Some(later);
        }
        let started = request.facts.start;
        if started.is_none() {
            uses.truncate(1);
        }
        let takes = |n: &usize| {
            let i = &self.instances[*n];
            let Some(closed) = i.closed.filter(|_| i.is_ended) else {
                return false;
            };
            let is_wanted = match reserve.after_end {
                AfterEnd::Begins => false,
                AfterEnd::AbsorbedOnce => !i.is_absorbed,
                AfterEnd::Absorbed => true,
            };
            let end = i.facts.end.unwrap_or(closed);
            let is_before_end = started.is_none_or(|started| started <= end);
            let contains = |started| i.began.is_some_and(|began| began <= started);
            let is_close = at < closed.plus(self.policy.close_grace);
            let is_awaited = started.is_none()
                && at < closed.plus(self.policy.idle)
                && self.lacks_reserve(*n, closed);
            let is_its = is_close || is_awaited || started.is_some_and(contains);
            is_wanted && is_before_end && is_its
        };
        uses.into_iter().find(takes)
    }

    /// The reserve of a use neither came before its charges nor was refused in the days before its end.
    fn lacks_reserve(&self, n: usize, closed: Timestamp) -> bool {
        let i = &self.instances[n];
        let is_reserved = i.began.is_some() && i.began != i.facts.start;
        let refused = self.refused_start(&i.machine, &i.id);
        let is_refused = refused.is_some_and(|at| closed < at.plus(self.policy.idle));
        i.is_charged && i.earliest.is_some() && !is_reserved && !is_refused
    }

    /// When a start of an object was refused last.
    pub(super) fn refused_start(&self, machine: &str, id: &str) -> Option<Timestamp> {
        let all = self.refused_starts.iter().rev();
        let mut own = all.filter(|(m, i, _)| m == machine && i == id);
        own.next().map(|(_, _, at)| *at)
    }

    /// A start that was refused for money or for who asks is kept.
    pub(super) fn keep_refused(&mut self, command: &Command, refusal: &str) {
        let Command::Reserve(reserve) = command else {
            return;
        };
        let is_kept = [
            "insufficient_funds",
            "account_blocked",
            "not_a_member",
            "no_usable_account",
            "inactive",
            "_unknown",
            "no_default_project",
        ];
        if reserve.after_end == AfterEnd::Absorbed || !is_kept.iter().any(|c| refusal.contains(c)) {
            return;
        }
        let request = &reserve.request;
        let at = self.happened(request.event_time);
        let (machine, id) = (request.whose.machine.clone(), request.object_id.clone());
        self.refused_starts.push((machine, id, at));
    }

    pub(super) fn reserve(&mut self, reserve: &Reserve) -> Answer {
        let request = &reserve.request;
        if request.facts.usage.has_negative() {
            return Err(refused("negative_charge"));
        }
        let at = self.happened(request.event_time);
        let wall = request.facts.wall.unwrap();
        if let Some(n) = self.absorbs(reserve, at) {
            self.instances[n].is_absorbed |= reserve.after_end == AfterEnd::AbsorbedOnce;
            return Ok("lien 0, absorbed".to_owned());
        }
        let n = self.open_or_new(request, at);
        let mode = self.mode_of(n, request);
        self.keep(n, request);
        self.instances[n].fallback_from = None;
        self.note_start(n, Some(at));
        self.note_start(n, request.facts.start);
        let start = reserve.start.unwrap_or(at);
        let grace = self.lien_grace(&request.whose.machine, reserve.flush_grace);
        let mut end = reserve.end.unwrap_or_else(|| start.plus(wall).plus(grace));
        match reserve.end {
            Some(end) if end <= start => return Err(refused("bad_window")),
            Some(end) if end <= self.now => return Err(refused("window_in_past")),
            _ => {}
        }
        self.begin("reserve", at);
        let is_invalid = self.bind(n, request, at);
        let mut kept = 0;
        let older = self.instances[n].lien.map(|older| &self.liens[older]);
        let is_same = |older: &&Lien| reserve.adds && older.is_shadow == mode.is_shadow();
        if let Some(older) = older.filter(is_same) {
            kept = older.portions.iter().map(|(_, held)| held).sum();
            end = end.max(older.end);
        }
        self.end_lien(n, "replaced");
        let given = reserve.amount.map(|amount| amount.0);
        if given.is_some_and(|amount| amount < 0) {
            return Err(refused("negative_charge"));
        }
        let cost = if let Some(amount) = given {
            amount
        } else {
            self.check_attributes(&self.instances[n].facts.usage)?;
            self.cost(n, wall.0, at)
        };
        let again = Again {
            seconds: wall.0,
            at,
            is_given: given.is_some(),
            kept,
        };
        let placed = Placed {
            n,
            start,
            end,
            cost: cost + kept,
        };
        let usable = self.usable(&request.whose, &self.instances[n].facts);
        let answer = if mode.is_shadow() {
            self.place_shadow(&placed, usable, &again, is_invalid)
        } else {
            self.place(&placed, usable, mode, &again, is_invalid)?
        };
        self.instances[n].lien_expired = false;
        let has_lien = self.instances[n].lien.is_some();
        let idle = at.plus(self.policy.idle);
        self.instances[n].due = Some(if has_lien { end } else { idle });
        Ok(answer)
    }

    fn place(
        &mut self,
        placed: &Placed,
        usable: Result<Vec<Fit>, String>,
        mode: Mode,
        again: &Again,
        is_invalid: bool,
    ) -> Answer {
        let Placed {
            n,
            start,
            end,
            mut cost,
        } = *placed;
        let fits = self.unblocked(usable?)?;
        let quote = if is_invalid { ", quote_invalid" } else { "" };
        let first = self.first_payer(&fits, start);
        if mode == Mode::Fast || cost == 0 {
            return Ok(format!("lien 0{quote}"));
        }
        let mut by_fallback = "";
        let parts = match self.lay(&fits, start, end, cost, false) {
            Ok(parts) => parts,
            Err(available) => {
                let machine = self.instances[n].machine.clone();
                let fallback = first.and_then(|f| self.fallback_of(f, Some(&machine)));
                let fallback = fallback.filter(|_| self.policy.fallback == FallbackMode::Bank);
                let fallback = fallback.ok_or_else(|| short(cost, available))?;
                self.instances[n].fallback_from = first;
                by_fallback = ", fallback";
                // There it may cost something else.
                if !again.is_given {
                    cost = self.cost(n, again.seconds, again.at) + again.kept;
                }
                if cost == 0 {
                    self.instances[n].account = Some(fallback);
                    return Ok(format!("lien 0, fallback{quote}"));
                }
                let only = self.unblocked(vec![Fit::only(fallback)])?;
                self.lay(&only, start, end, cost, false)
                    .map_err(|available| short(cost, available))?
            }
        };
        let outlives = self.hold(&Placed { cost, ..*placed }, parts, false);
        Ok(format!("lien {cost}{by_fallback}{outlives}{quote}"))
    }

    /// Everything is tested, nothing is refused, and only shadow money is held (decisions.md 18).
    fn place_shadow(
        &mut self,
        placed: &Placed,
        usable: Result<Vec<Fit>, String>,
        again: &Again,
        is_invalid: bool,
    ) -> String {
        let Placed {
            start, end, cost, ..
        } = *placed;
        let quote = if is_invalid { ", quote_invalid" } else { "" };
        let fits = match usable {
            Ok(fits) => fits,
            Err(refusal) => return format!("lien 0{quote}, would_refuse {}", code_of(&refusal)),
        };
        if cost == 0 {
            return format!("lien 0{quote}");
        }
        let strict = match self.unblocked(fits.clone()) {
            Err(refusal) => Err(refusal),
            Ok(open) => match self.lay(&open, start, end, cost, true) {
                Ok(parts) => Ok(parts),
                Err(available) => {
                    let first = self.first_payer(&open, start);
                    match self.on_fallback(placed, again, first) {
                        Some(answer) => return format!("{answer}{quote}"),
                        None => Err(short(cost, available)),
                    }
                }
            },
        };
        let refusal = strict
            .as_ref()
            .err()
            .map(|refusal| code_of(refusal).to_owned());
        let refusal = refusal.map_or_else(String::new, |code| format!(", would_refuse {code}"));
        let parts = strict.unwrap_or_else(|_| {
            let first = self.order(&fits, start).first().copied();
            first.map(|id| (id, cost)).into_iter().collect()
        });
        let held = if parts.is_empty() {
            String::new()
        } else {
            format!(", shadow {cost}")
        };
        let outlives = self.hold(placed, parts, true);
        format!("lien 0{held}{outlives}{quote}{refusal}")
    }
}

/// The code in the text of a refusal.
fn code_of(refusal: &str) -> &str {
    let rest = refusal.strip_prefix("refused ").unwrap();
    rest.split([',', ':']).next().unwrap()
}
