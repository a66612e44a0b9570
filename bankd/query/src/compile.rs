//! A plan as one statement. Every word of it stands here or in the catalogue; whatever a caller or
//! the bank's data says is bound.

use std::fmt::Write as _;

use bank_core::ids::AccountId;
use rusqlite::types::Value;

use bank_api::query::Op;

use super::catalogue::{Attribute, Object, Seen};
use super::plan::{Field, Plan, Test};

/// A statement with what is bound to it, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

/// The statement whose rows hold the fields of the plan's columns, in their order.
pub(super) fn statement(plan: &Plan) -> Statement {
    let mut maker = Maker {
        plan,
        values: Vec::new(),
    };
    let mut sql = String::from("WITH ");
    for (at, object) in plan.objects.iter().enumerate() {
        let view = maker.view(at, object);
        let comma = if at == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}v{at} AS ({view})");
    }
    let fields = plan
        .columns
        .iter()
        .map(|c| c.field.map_or_else(|| "1".to_owned(), name));
    let fields: Vec<String> = fields.collect();
    let distinct = if plan.unique && !plan.grouped {
        "DISTINCT "
    } else {
        ""
    };
    let views: Vec<String> = (0..plan.objects.len()).map(|at| format!("v{at}")).collect();
    let _ = write!(
        sql,
        " SELECT {distinct}{} FROM {}",
        fields.join(", "),
        views.join(", ")
    );
    if let Some(test) = &plan.condition {
        let test = maker.test(test);
        let _ = write!(sql, " WHERE {test}");
    }
    if !plan.grouped {
        sql.push_str(&order(plan));
        let limit = maker.bind(count(plan.limit.saturating_add(1)));
        let offset = maker.bind(count(plan.offset));
        let _ = write!(sql, " LIMIT {limit} OFFSET {offset}");
    }
    Statement {
        sql,
        values: maker.values,
    }
}

fn count(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// By what was asked for, and then by the first attribute, so that pages fit together.
fn order(plan: &Plan) -> String {
    let mut by: Vec<String> = Vec::new();
    for (at, falls) in &plan.order {
        let field = plan.columns.get(*at).and_then(|c| c.field);
        let way = if *falls { " DESC" } else { "" };
        by.extend(field.map(|field| format!("{}{way}", name(field))));
    }
    if !plan.unique {
        for (at, object) in plan.objects.iter().enumerate() {
            let first = object.attributes.first();
            by.extend(first.map(|a| format!("v{at}.\"{}\"", a.name)));
        }
    }
    if by.is_empty() {
        return String::new();
    }
    format!(" ORDER BY {}", by.join(", "))
}

fn name(field: Field) -> String {
    format!("v{}.\"{}\"", field.object, field.attribute.name)
}

struct Maker<'a> {
    plan: &'a Plan,
    values: Vec<Value>,
}

impl Maker<'_> {
    fn bind(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }

    /// A view: the rows of an object that are there and in view.
    fn view(&mut self, at: usize, object: &Object) -> String {
        let attributes = object.attributes.iter();
        let columns: Vec<String> = attributes
            .map(|a| format!("{} AS \"{}\"", self.expression(a), a.name))
            .collect();
        let mut tests: Vec<String> = Vec::new();
        tests.extend(self.seen(object.seen));
        if let (Some(there), false) = (object.there, self.plan.hidden) {
            tests.push(self.timed(there));
        }
        if let (Some(effective), Some(until)) = (object.effective, self.plan.until) {
            let until = self.bind(Value::Integer(until));
            tests.push(format!("{effective} <= {until}"));
        }
        tests.extend(self.recorded_since(at, object));
        let from = self.table(at, object);
        let mut sql = format!("SELECT {} FROM {from}", columns.join(", "));
        if !tests.is_empty() {
            let _ = write!(sql, " WHERE {}", tests.join(" AND "));
        }
        sql
    }

    /// Where the rows of an object are of transactions and count from an instant on: the numbers of transactions
    /// that were recorded then or a little earlier. None takes effect after it was recorded.
    fn recorded_since(&mut self, at: usize, object: &Object) -> Option<String> {
        object.effective?;
        let condition = self.plan.condition.as_ref()?;
        let since = ["Time", "Recorded"].map(|attribute| least(condition, at, attribute));
        let since = self.bind(Value::Integer(since.into_iter().flatten().max()?));
        Some(format!(
            "t.id > coalesce((SELECT w.tx FROM waypoint w WHERE w.n < (SELECT max(n) FROM waypoint
                 WHERE from_at < {since}) ORDER BY w.n DESC LIMIT 1), 0)"
        ))
    }

    /// The table of an object: the one for the query's time or keys, if it has such a table.
    fn table(&mut self, at: usize, object: &Object) -> String {
        if let (Some(timed), Some(_)) = (object.timed, self.plan.until) {
            return self.timed(timed);
        }
        let keyed = object.keyed.and_then(|(attribute, table)| {
            let condition = self.plan.condition.as_ref()?;
            Some((table, keys(condition, at, attribute)?))
        });
        match keyed {
            Some((table, keys)) => {
                let list = self.bind(Value::Text(serde_json::Value::from(keys).to_string()));
                self.timed(table).replace("{keys}", &list)
            }
            None => self.timed(object.from),
        }
    }

    /// A text of the catalogue with the times of the query bound.
    fn timed(&mut self, sql: &str) -> String {
        let mut sql = sql.to_owned();
        let now = self.plan.now.0;
        for (mark, time) in [("{now}", now), ("{until}", self.plan.until.unwrap_or(now))] {
            if sql.contains(mark) {
                let bound = self.bind(Value::Integer(time));
                sql = sql.replace(mark, &bound);
            }
        }
        sql
    }

    fn expression(&mut self, attribute: &Attribute) -> String {
        let sql = attribute.sql;
        let inner = sql
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix('}'));
        if let Some(text) = inner {
            return billionths(text);
        }
        let plan = self.plan;
        let sight = &plan.sight;
        match sql.split_once(' ') {
            Some(("@project", rows)) => {
                let among = self.among_texts("x.id", sight.projects.as_deref());
                named(rows, among)
            }
            Some(("@user", rows)) => {
                let among = self.among_texts("x.id", sight.users.as_deref());
                named(rows, among)
            }
            Some(("@machine", rows)) => {
                let among = self.among_texts("x.id", sight.machines.as_deref());
                named(rows, among)
            }
            Some(("@account", rows)) => {
                let among = self.among_numbers("x.id", sight.accounts.as_deref());
                named(rows, among)
            }
            Some(("@payer", text)) => match self.among_texts(text, sight.payers.as_deref()) {
                Some(among) => format!("CASE WHEN {among} THEN {text} ELSE '' END"),
                None => text.to_owned(),
            },
            Some((mark @ ("@work" | "@workid"), column)) => {
                let none = if mark == "@work" { "''" } else { "NULL" };
                match self.work("i.project", "i.machine", "i.user") {
                    Some(work) => format!("CASE WHEN {work} THEN {column} ELSE {none} END"),
                    None => column.to_owned(),
                }
            }
            Some(("@standing", column)) => {
                match self.among_numbers("e.account", sight.accounts.as_deref()) {
                    Some(among) => format!("CASE WHEN {among} THEN {column} END"),
                    None => column.to_owned(),
                }
            }
            _ => sql.to_owned(),
        }
    }

    fn seen(&mut self, seen: Seen) -> Option<String> {
        let plan = self.plan;
        let sight = &plan.sight;
        match seen {
            Seen::All | Seen::Unlimited | Seen::Readers(_) => None,
            Seen::Account(id) => self.among_numbers(id, sight.accounts.as_deref()),
            Seen::Project(name) => self.among_texts(name, sight.projects.as_deref()),
            Seen::User(name) => self.among_texts(name, sight.users.as_deref()),
            Seen::Machine(name) => self.among_texts(name, sight.machines.as_deref()),
            Seen::Rate(id) => self.rates(id),
            Seen::RateOf(id, project, machine, user) => {
                let rate = self.rates(id);
                both(rate, self.work(project, machine, user))
            }
            Seen::Member(project, user) => {
                let project = self.among_texts(project, sight.projects.as_deref());
                let user = self.among_texts(user, sight.users.as_deref());
                both(project, user)
            }
            Seen::MachineOf(project, machine) => {
                let project = self.among_texts(project, sight.projects.as_deref());
                let machine = self.among_texts(machine, sight.machines.as_deref());
                both(project, machine)
            }
            Seen::AccountOf(one, two) => {
                let one = self.among_numbers(one, sight.accounts.as_deref());
                let two = self.among_numbers(two, sight.accounts.as_deref());
                both(one, two)
            }
            Seen::Work(project, machine, user) | Seen::Recorded(project, machine, user) => {
                self.work(project, machine, user)
            }
            Seen::LienPart if sight.machines.is_some() => {
                self.work("i.project", "i.machine", "i.user")
            }
            Seen::LienPart => self.among_numbers("x.account", sight.accounts.as_deref()),
            Seen::Journal => {
                let entry = self.seen(Seen::Entry);
                let whole = sight.is_unlimited();
                both(entry, (!whole).then(|| "e.is_entry = 1".to_owned()))
            }
            Seen::Lien => {
                let work = self.work("i.project", "i.machine", "i.user")?;
                if sight.machines.is_some() {
                    return Some(work);
                }
                let account = self.among_numbers("x.account", sight.accounts.as_deref());
                let account = account.unwrap_or_else(|| "1".to_owned());
                Some(format!(
                    "({work} OR EXISTS (SELECT 1 FROM lien_allocation p JOIN allocation x
                     ON x.id = p.allocation WHERE p.lien = l.id AND {account}))"
                ))
            }
            Seen::Entry => {
                let work = self.work("e.project", "e.machine", "e.user");
                let account = self.among_numbers("e.account", sight.accounts.as_deref());
                if work.is_none() && account.is_none() {
                    return None;
                }
                let yes = || "1".to_owned();
                let (work, account) = (work.unwrap_or_else(yes), account.unwrap_or_else(yes));
                Some(format!(
                    "CASE WHEN e.project <> '' THEN {work} ELSE coalesce({account}, 0) END"
                ))
            }
            Seen::Rule => self.rule(),
        }
    }

    fn rates(&mut self, id: &str) -> Option<String> {
        let ids = self.plan.sight.rates.as_ref()?.iter().map(|id| id.0);
        let ids: Vec<i64> = ids.collect();
        Some(self.among(id, &serde_json::Value::from(ids)))
    }

    /// Work of projects that the caller leads, and their own.
    fn work(&mut self, project: &str, machine: &str, user: &str) -> Option<String> {
        let sight = &self.plan.sight;
        let led = self.among_texts(project, sight.payers.as_deref());
        let project = match (led, sight.own.as_slice()) {
            (Some(led), own @ [_, ..]) => {
                let user = self.among_texts(user, Some(own));
                let own = both(user, self.among_texts(project, Some(&sight.own_payers)));
                own.map(|own| format!("({led} OR {own})"))
            }
            (led, _) => led,
        };
        let machine = self.among_texts(machine, sight.machines.as_deref());
        both(project, machine)
    }

    /// Rows of lists name others: those of accounts in view, and of them what names nothing hidden.
    fn rule(&mut self) -> Option<String> {
        let sight = &self.plan.sight;
        if sight.is_unlimited() {
            return None;
        }
        let mut cases = String::new();
        for (dimension, names) in [
            ("project", &sight.projects),
            ("user", &sight.users),
            ("machine", &sight.machines),
        ] {
            if let Some(among) = self.among_texts("c.value", names.as_deref()) {
                let _ = write!(cases, " WHEN c.dimension = '{dimension}' THEN {among}");
            }
        }
        let account = self.among_numbers("a.id", sight.accounts.as_deref());
        let value = format!("CASE WHEN c.value IN ('ANY', 'MEMBERS') THEN 1{cases} ELSE 1 END");
        both(account, Some(value))
    }

    fn among_texts(&mut self, expression: &str, names: Option<&[String]>) -> Option<String> {
        let names = serde_json::Value::from(names?.to_vec());
        Some(self.among(expression, &names))
    }

    fn among_numbers(&mut self, expression: &str, ids: Option<&[AccountId]>) -> Option<String> {
        let ids: Vec<i64> = ids?.iter().map(|id| id.0).collect();
        Some(self.among(expression, &serde_json::Value::from(ids)))
    }

    fn among(&mut self, expression: &str, list: &serde_json::Value) -> String {
        let list = self.bind(Value::Text(list.to_string()));
        format!("({expression}) IN (SELECT value FROM json_each({list}))")
    }

    fn test(&mut self, test: &Test) -> String {
        match test {
            Test::All(parts) => self.parts(parts, " AND "),
            Test::Any(parts) => self.parts(parts, " OR "),
            Test::Not(part) => format!("NOT {}", self.test(part)),
            Test::Number(field, op, number) => {
                let value = self.bind(Value::Integer(*number));
                compared(*field, *op, &value)
            }
            Test::Text(field, Op::Match, pattern) => {
                // A bracket would begin a set of characters.
                let value = self.bind(Value::Text(pattern.replace('[', "[[]")));
                compared(*field, Op::Match, &value)
            }
            Test::Text(field, op, wanted) => {
                let value = self.bind(Value::Text(wanted.clone()));
                compared(*field, *op, &value)
            }
            Test::Absent(field, yes) => {
                let not = if *yes { "" } else { "NOT " };
                format!("({} IS {not}NULL)", name(*field))
            }
            Test::Fields(one, op, two) => compared(*one, *op, &name(*two)),
        }
    }

    fn parts(&mut self, parts: &[Test], between: &str) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.test(part)).collect();
        format!("({})", parts.join(between))
    }
}

/// What is absent is neither less nor more than anything, and unequal to everything.
fn compared(field: Field, op: Op, value: &str) -> String {
    let one = name(field);
    match op {
        Op::Equal => format!("({one} IS {value})"),
        Op::Unequal => format!("({one} IS NOT {value})"),
        Op::AtMost => known(&one, "<=", value),
        Op::AtLeast => known(&one, ">=", value),
        Op::Less => known(&one, "<", value),
        Op::More => known(&one, ">", value),
        Op::Match => known(&one, "GLOB", value),
    }
}

/// The only numbers that an attribute of rows that meet a condition can have; none if it can have any.
fn keys(test: &Test, object: usize, attribute: &str) -> Option<Vec<i64>> {
    match test {
        Test::Number(field, Op::Equal, number)
            if field.object == object && field.attribute.name == attribute =>
        {
            Some(vec![*number])
        }
        Test::All(parts) => parts.iter().find_map(|part| keys(part, object, attribute)),
        Test::Any(parts) => {
            let all = parts.iter().map(|part| keys(part, object, attribute));
            let all: Option<Vec<Vec<i64>>> = all.collect();
            all.map(|all| all.concat())
        }
        _ => None,
    }
}

/// The least number that an attribute of rows that meet a condition can have; none if there is none.
fn least(test: &Test, object: usize, attribute: &str) -> Option<i64> {
    match test {
        Test::Number(field, Op::Equal | Op::AtLeast | Op::More, number)
            if field.object == object && field.attribute.name == attribute =>
        {
            Some(*number)
        }
        Test::All(parts) => {
            let all = parts.iter().map(|part| least(part, object, attribute));
            all.flatten().max()
        }
        _ => None,
    }
}

fn known(one: &str, op: &str, value: &str) -> String {
    format!("(({one} {op} {value}) IS TRUE)")
}

fn both(one: Option<String>, two: Option<String>) -> Option<String> {
    match (one, two) {
        (Some(one), Some(two)) => Some(format!("({one} AND {two})")),
        (one, two) => one.or(two),
    }
}

fn named(rows: &str, among: Option<String>) -> String {
    let test = among.map_or_else(String::new, |among| format!(" WHERE {among}"));
    format!("coalesce((SELECT x.name FROM {rows} x{test}), '')")
}

/// A text such as `4` or `0.25` as billionths; none for more than nine digits before the point.
fn billionths(text: &str) -> String {
    let point = format!("instr({text} || '.', '.')");
    format!(
        "CASE WHEN coalesce({text}, '') = '' OR {text} LIKE '-%' OR {point} > 10 THEN NULL ELSE
         CAST(substr({text}, 1, {point} - 1) AS INTEGER) * 1000000000
         + CAST(substr(substr({text}, {point} + 1) || '000000000', 1, 9) AS INTEGER) END"
    )
}
