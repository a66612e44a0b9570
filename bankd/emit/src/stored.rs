//! A [`Record`] as text: its form in the database until, and after, its lines are written. A record that is
//! read equals the written one, to the last digit, so that a later line equals the first one.
//!
//! The text is a list of members with U+001F between them, each a letter and a value; a member that
//! is missing has no value. In a value `\` is `\\` and U+001F is `\s`.

use std::fmt::Display;

use super::{Kind, Occasion, Outcome, Record, State, Why};

/// Between two members.
const BETWEEN: char = '\u{1f}';

/// The word of [`Why::Part`], which formats show as an amendment.
const PART: &str = "part";

/// The record as text.
pub fn write(record: &Record) -> String {
    let mut text = Text {
        text: String::with_capacity(200),
    };
    match record.occasion {
        Occasion::Charge => text.add('O', "charge"),
        Occasion::Close { charges } => {
            text.add('O', "close");
            text.add('o', charges);
        }
        Occasion::Adjustment { of, why } => {
            let word = if why == Why::Part { PART } else { why.as_str() };
            text.add('O', word);
            text.add('o', of);
        }
    }
    text.add('#', record.record_id);
    text.add('@', record.created_at);
    if record.kind == Kind::Reservation {
        text.add('K', "res");
    }
    text.say('i', Some(&record.object_id));
    text.say('m', Some(&record.machine));
    text.say('f', record.machine_fqdn.as_deref());
    text.say('j', record.job_name.as_deref());
    text.say('u', record.user.as_deref());
    text.say('a', record.project.as_deref());
    text.say('e', record.payer.as_deref());
    text.say('h', record.submit_host.as_deref());
    text.say('c', record.class.as_deref());
    text.say('q', record.qos.as_deref());
    text.say('t', record.host_type.as_deref());
    for host in &record.hosts {
        text.say('n', Some(host));
    }
    for (letter, number) in numbers(record) {
        if let Some(number) = number {
            text.add(letter, number);
        }
    }
    text.add('p', record.usage.processors);
    text.add('d', record.usage.charged);
    if let Some(rate) = record.usage.rate {
        text.add('r', rate);
    }
    if let Some(work) = record.usage.work {
        text.add('w', work);
    }
    if record.state != State::Completed {
        text.add('s', word(record.state));
    }
    text.add('$', record.amount);
    text.say('F', record.formula.as_deref());
    text.say('g', record.group.as_deref());
    text.say('A', record.pi.as_deref());
    text.say('C', record.source.as_deref());
    match record.outcome {
        Outcome::Billed => {}
        Outcome::Unbilled => text.add('b', "unbilled"),
        Outcome::Shadow => text.add('b', "shadow"),
    }
    text.text
}

/// The optional numbers, by their letters.
fn numbers(record: &Record) -> [(char, Option<i64>); 22] {
    [
        ('N', record.nodes),
        ('M', record.memory_per_node),
        ('S', record.submit_time),
        ('B', record.start_time),
        ('E', record.end_time),
        ('W', record.wall),
        ('U', record.cpu_user),
        ('Y', record.cpu_system),
        ('T', record.cpu_total),
        ('X', record.exit_code),
        ('R', record.requested),
        ('P', record.requested_processors),
        ('Q', record.requested_memory),
        ('V', record.memory_total),
        ('G', record.gpus),
        ('I', record.uid),
        ('J', record.gid),
        ('y', record.began),
        ('z', record.used_until),
        ('H', record.shadow),
        ('l', record.real),
        ('k', record.counted),
    ]
}

/// Reads what [`write()`] wrote; none where it is no such text.
pub fn read(text: &str) -> Option<Record> {
    let mut record = Record::default();
    let (mut occasion, mut number) = ("", None);
    for member in text.split(BETWEEN).filter(|member| !member.is_empty()) {
        let letter = member.chars().next()?;
        let value = member.get(letter.len_utf8()..)?;
        match letter {
            'O' => occasion = value,
            'o' => number = Some(value),
            '#' => record.record_id = value.parse().ok()?,
            '@' => record.created_at = value.parse().ok()?,
            'K' => record.kind = Kind::Reservation,
            'p' => record.usage.processors = value.parse().ok()?,
            'd' => record.usage.charged = value.parse().ok()?,
            'r' => record.usage.rate = Some(value.parse().ok()?),
            'w' => record.usage.work = Some(value.parse().ok()?),
            's' => record.state = STATES.iter().find(|(_, word)| *word == value)?.0,
            'b' if value == "unbilled" => record.outcome = Outcome::Unbilled,
            'b' if value == "shadow" => record.outcome = Outcome::Shadow,
            '$' => record.amount = value.parse().ok()?,
            _ => match count(&mut record, letter) {
                Some(place) => *place = Some(value.parse().ok()?),
                None => say(&mut record, letter, unescaped(value)?)?,
            },
        }
    }
    record.occasion = read_occasion(occasion, number)?;
    Some(record)
}

fn read_occasion(word: &str, number: Option<&str>) -> Option<Occasion> {
    match word {
        "charge" => Some(Occasion::Charge),
        "close" => Some(Occasion::Close {
            charges: number?.parse().ok()?,
        }),
        _ => Some(Occasion::Adjustment {
            of: number?.parse().ok()?,
            why: if word == PART {
                Why::Part
            } else {
                Why::parse(word)?
            },
        }),
    }
}

fn count(record: &mut Record, letter: char) -> Option<&mut Option<i64>> {
    Some(match letter {
        'N' => &mut record.nodes,
        'M' => &mut record.memory_per_node,
        'S' => &mut record.submit_time,
        'B' => &mut record.start_time,
        'E' => &mut record.end_time,
        'W' => &mut record.wall,
        'U' => &mut record.cpu_user,
        'Y' => &mut record.cpu_system,
        'T' => &mut record.cpu_total,
        'X' => &mut record.exit_code,
        'R' => &mut record.requested,
        'P' => &mut record.requested_processors,
        'Q' => &mut record.requested_memory,
        'V' => &mut record.memory_total,
        'G' => &mut record.gpus,
        'I' => &mut record.uid,
        'J' => &mut record.gid,
        'y' => &mut record.began,
        'z' => &mut record.used_until,
        'H' => &mut record.shadow,
        'l' => &mut record.real,
        'k' => &mut record.counted,
        _ => return None,
    })
}

fn say(record: &mut Record, letter: char, value: String) -> Option<()> {
    let place = match letter {
        'i' => {
            record.object_id = value;
            return Some(());
        }
        'm' => {
            record.machine = value;
            return Some(());
        }
        'n' => {
            record.hosts.push(value);
            return Some(());
        }
        'f' => &mut record.machine_fqdn,
        'j' => &mut record.job_name,
        'u' => &mut record.user,
        'a' => &mut record.project,
        'e' => &mut record.payer,
        'h' => &mut record.submit_host,
        'c' => &mut record.class,
        'q' => &mut record.qos,
        't' => &mut record.host_type,
        'F' => &mut record.formula,
        'g' => &mut record.group,
        'A' => &mut record.pi,
        'C' => &mut record.source,
        _ => return None,
    };
    *place = Some(value);
    Some(())
}

/// Every state with its word here.
const STATES: [(State, &str); 9] = [
    (State::Completed, "completed"),
    (State::Failed, "failed"),
    (State::Timeout, "timeout"),
    (State::Aborted, "aborted"),
    (State::Preempted, "preempted"),
    (State::Running, "running"),
    (State::Suspended, "suspended"),
    (State::Held, "held"),
    (State::Queued, "queued"),
];

fn word(state: State) -> &'static str {
    let found = STATES.iter().find(|(known, _)| *known == state);
    found.map_or("completed", |(_, word)| word)
}

/// A text in the making.
struct Text {
    text: String,
}

impl Text {
    fn open(&mut self, letter: char) {
        if !self.text.is_empty() {
            self.text.push(BETWEEN);
        }
        self.text.push(letter);
    }

    /// A member that needs no escaping.
    fn add(&mut self, letter: char, value: impl Display) {
        use std::fmt::Write as _;
        self.open(letter);
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
    }

    fn say(&mut self, letter: char, value: Option<&str>) {
        let Some(value) = value else { return };
        self.open(letter);
        for c in value.chars() {
            match c {
                '\\' => self.text.push_str("\\\\"),
                BETWEEN => self.text.push_str("\\s"),
                c => self.text.push(c),
            }
        }
    }
}

fn unescaped(value: &str) -> Option<String> {
    let mut text = String::with_capacity(value.len());
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => text.push(match rest.next()? {
                's' => BETWEEN,
                '\\' => '\\',
                _ => return None,
            }),
            c => text.push(c),
        }
    }
    Some(text)
}
