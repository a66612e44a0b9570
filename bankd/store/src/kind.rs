//! The SQL of declared kinds (decision 0164): tables, rows and values are those of the declaration.
//!
//! A kind of the program has a table of its own. Records of kinds that the site added, and the fields that it
//! added to others, are rows of the table `kind_record`.

use super::{Error, codec};
use bank_core::directory::Directory;
use bank_core::kind::{self, Field, Key, KeyType, Kind, Record, Records, Type, Value, site};
use bank_core::time::Timestamp;
use rusqlite::types::Value as Sql;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};
use serde_json::Value as Json;

/// The columns of the table `kind_record`.
pub(super) const COLUMNS: [&str; 4] = ["kind", "key", "state", "deleted"];

/// A column of the table of a kind.
enum Column<'a> {
    /// The number.
    Number,
    /// The name.
    Name,
    /// The value of a field.
    Field(&'a Field),
    /// Whether the record was removed.
    Deleted,
}

impl Column<'_> {
    fn name(&self) -> &'static str {
        match self {
            Column::Number => "id",
            Column::Name => "name",
            Column::Field(field) => field.column,
            Column::Deleted => "deleted",
        }
    }
}

/// The columns of the table of a kind, in the order of its rows and versions. The first one is the key.
fn layout(kind: &Kind) -> Vec<Column<'_>> {
    let mut all = match kind.key {
        KeyType::Number => vec![Column::Number],
        KeyType::Name | KeyType::Word | KeyType::AnyCase => vec![Column::Name],
        KeyType::Object => vec![Column::Number, Column::Name],
    };
    let at = all.len().saturating_add(kind.deleted_after);
    let own = kind.fields.iter().filter(|field| !field.site);
    all.extend(own.map(Column::Field));
    all.insert(at.min(all.len()), Column::Deleted);
    all
}

/// The names of the columns that its table has.
pub(super) fn columns(kind: &Kind) -> Vec<&'static str> {
    in_table(&layout(kind)).map(Column::name).collect()
}

/// The columns that the table has.
fn in_table<'a>(layout: &'a [Column<'_>]) -> impl Iterator<Item = &'a Column<'a>> {
    let is_in =
        |column: &&Column<'_>| !matches!(column, Column::Field(field) if field.rows.is_some());
    layout.iter().filter(is_in)
}

/// The list of a row `t` that another table has, as a JSON array: the last column of versions.
pub(super) fn list(kind: &Kind) -> Option<String> {
    let field = kind.fields.iter().find(|field| field.rows.is_some())?;
    let (rows, of, column) = (field.rows?, kind.table?, field.column);
    Some(format!(
        "SELECT json_group_array({column}) FROM (SELECT {column} FROM {rows} WHERE {of} = t.id
             ORDER BY {column})"
    ))
}

/// A column as it is read, of its expression: names in place of numbers.
pub(super) fn shown(kind: &Kind, place: usize, raw: String) -> String {
    let layout = layout(kind);
    let Some(Column::Field(field)) = layout.get(place) else {
        return raw;
    };
    match (target(field), field.rows) {
        (Some(table), Some(_)) => format!(
            "(SELECT json_group_array(name) FROM (SELECT o.name FROM json_each({raw}) j
                 JOIN {table} o ON o.id = j.value ORDER BY o.name))"
        ),
        (Some(table), None) => format!("(SELECT o.name FROM {table} o WHERE o.id = {raw})"),
        (None, _) => raw,
    }
}

/// The table of the records whose numbers a column has.
fn target(field: &Field) -> Option<&'static str> {
    match &field.of {
        Type::Reference(of) | Type::References(of, _) if field.numbered => kind::of(of)?.table,
        _ => None,
    }
}

/// Whether the first column of the table is a number.
pub(super) fn is_numbered(kind: &Kind) -> bool {
    matches!(kind.key, KeyType::Number | KeyType::Object)
}

/// The name of a record that versions have by its number, or the other way round; any other key as it is.
pub(super) fn key_of_version(
    connection: &Connection,
    kind: &Kind,
    key: &str,
    to_name: bool,
) -> Result<String, Error> {
    let Some(table) = kind.table.filter(|_| kind.key == KeyType::Object) else {
        return Ok(key.to_owned());
    };
    let sql = if to_name {
        format!("SELECT name FROM {table} WHERE id = CAST(?1 AS INTEGER)")
    } else {
        format!("SELECT CAST(id AS TEXT) FROM {table} WHERE name = ?1")
    };
    let found = connection
        .prepare_cached(&sql)?
        .query_row([key], |r| r.get(0));
    Ok(found.optional()?.unwrap_or_else(|| key.to_owned()))
}

/// The kinds and fields of the site, as records of the kind `kind`.
pub(super) fn site_kinds(connection: &Connection) -> Result<Records, Error> {
    let mut records = Records::default();
    each_state(
        connection,
        &format!("kind = '{}'", site::WORD),
        &mut records,
    )?;
    Ok(records)
}

/// Reads all records.
pub(super) fn add_all(connection: &Connection, directory: &mut Directory) -> Result<(), Error> {
    directory.records = site_kinds(connection)?;
    let mut all = Vec::new();
    for kind in kind::declared() {
        if let Some(table) = kind.table {
            each(connection, kind, table, |record| all.push(record))?;
        }
    }
    directory.put_records(all);
    let other = format!("kind <> '{}'", site::WORD);
    each_state(connection, &other, &mut directory.records)
}

/// The records of one kind of the program, without fields of the site.
pub(super) fn of(connection: &Connection, word: &str) -> Result<Records, Error> {
    let mut records = Records::default();
    if let Some((kind, table)) = kind::of(word).and_then(|kind| Some((kind, kind.table?))) {
        each(connection, kind, table, |record| records.put(record))?;
    }
    Ok(records)
}

fn each(
    connection: &Connection,
    kind: &Kind,
    table: &str,
    mut put: impl FnMut(Record),
) -> Result<(), Error> {
    let list = list(kind).unwrap_or_default();
    let raw = |column: &Column<'_>| match column {
        Column::Field(field) if field.rows.is_some() => format!("({list})"),
        column => format!("t.{}", column.name()),
    };
    let columns = layout(kind);
    let columns = columns.iter().enumerate();
    let columns: Vec<String> = columns
        .map(|(place, column)| shown(kind, place, raw(column)))
        .collect();
    let sql = format!("SELECT {} FROM {table} t ORDER BY 1", columns.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        put(read(kind, row)?);
    }
    Ok(())
}

fn each_state(connection: &Connection, of: &str, records: &mut Records) -> Result<(), Error> {
    let sql = format!("SELECT {} FROM kind_record WHERE {of}", COLUMNS.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        put_state(row, records)?;
    }
    Ok(())
}

/// A record of a row of its table.
pub(super) fn read(kind: &Kind, row: &Row<'_>) -> Result<Record, Error> {
    let mut record = Record::new(&kind.word, Key::Number(0));
    for (place, column) in layout(kind).iter().enumerate() {
        match column {
            Column::Number if kind.key == KeyType::Object => record.id = row.get(place)?,
            Column::Number => record.key = Key::Number(row.get(place)?),
            Column::Name => record.key = Key::Name(row.get(place)?),
            Column::Field(field) => {
                record.set(&field.name, value(field, row.get_ref(place)?)?);
            }
            Column::Deleted => record.deleted = row.get(place)?,
        }
    }
    Ok(record)
}

fn value(field: &Field, column: ValueRef<'_>) -> Result<Value, Error> {
    let wrong = || Error::Value {
        what: "field of a record",
        value: field.name.clone(),
    };
    Ok(match (&field.of, column) {
        (_, ValueRef::Null) if field.nullable => field.default_value().clone(),
        (_, ValueRef::Null) => Value::None,
        (Type::Flag, ValueRef::Integer(flag)) => Value::Flag(flag != 0),
        (Type::Time, ValueRef::Integer(at)) => Value::Time(Timestamp(at)),
        (_, ValueRef::Integer(number)) => Value::Whole(number),
        (of, ValueRef::Text(text)) => {
            let text = str::from_utf8(text).map_err(|_| wrong())?;
            match of {
                Type::Texts(..) | Type::References(..) if field.rows.is_some() => {
                    Value::List(serde_json::from_str(text).map_err(|_| wrong())?)
                }
                Type::Texts(..) | Type::References(..) => Value::List(codec::lines(text)),
                Type::Choice(words) if !words.iter().any(|word| word == text) => {
                    return Err(wrong());
                }
                _ => Value::Text(text.to_owned()),
            }
        }
        _ => return Err(wrong()),
    })
}

/// Puts a row of the table `kind_record` into the records: the values of the site of a record that has a table, or
/// a record as a whole. Values of fields that the site took away are left out.
pub(super) fn put_state(row: &Row<'_>, records: &mut Records) -> Result<(), Error> {
    let (word, key): (String, String) = (row.get(0)?, row.get(1)?);
    let state: String = row.get(2)?;
    let kind = records
        .declaration(&word)
        .ok_or_else(|| codec::unexplained(&word, &key))?;
    let key = kind
        .read_key(&key)
        .ok_or_else(|| codec::unexplained(&word, &key))?;
    let state: serde_json::Map<String, Json> = codec::word("kind_record.state", &state, |text| {
        serde_json::from_str(text).ok()
    })?;
    let mut record = records.ever(&word, &key).cloned();
    let fresh = record.is_none();
    let record = record.get_or_insert_with(|| Record::new(&word, key));
    for field in kind
        .fields
        .iter()
        .filter(|field| field.site || kind.table.is_none())
    {
        let value = state
            .get(&field.name)
            .map_or(Value::None, |json| of_json(field, json));
        record.set(&field.name, value);
    }
    if fresh || kind.table.is_none() {
        record.deleted = row.get(3)?;
    }
    let record = record.clone();
    records.put(record);
    Ok(())
}

fn of_json(field: &Field, json: &Json) -> Value {
    match (&field.of, json) {
        (Type::Time, Json::Number(at)) => at
            .as_i64()
            .map_or(Value::None, |at| Value::Time(Timestamp(at))),
        (_, Json::Number(number)) => number.as_i64().map_or(Value::None, Value::Whole),
        (_, Json::Bool(flag)) => Value::Flag(*flag),
        (_, Json::String(text)) => Value::Text(text.clone()),
        (_, Json::Array(list)) => {
            let texts = list
                .iter()
                .filter_map(|text| text.as_str().map(str::to_owned));
            Value::List(texts.collect())
        }
        _ => Value::None,
    }
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Text(text) => Json::from(text.as_str()),
        Value::Whole(number) => Json::from(*number),
        Value::Flag(flag) => Json::from(*flag),
        Value::Time(at) => Json::from(at.0),
        Value::List(list) => Json::from(list.clone()),
    }
}

/// Writes a record.
pub(super) fn write(connection: &Connection, record: &Record) -> Result<usize, Error> {
    let own = kind::of(&record.kind);
    if let Some((kind, table)) = own.and_then(|kind| Some((kind, kind.table?))) {
        write_row(connection, kind, table, record)?;
    }
    if !has_state(connection, record)? {
        return Ok(1);
    }
    let sql = "INSERT INTO kind_record (kind, key, state, deleted) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (kind, key) DO UPDATE SET state = ?3, deleted = ?4";
    let has_table =
        |name: &String| own.is_some_and(|k| k.table.is_some() && k.field(name).is_some());
    let values = record.values.iter().filter(|(name, _)| !has_table(name));
    let state: serde_json::Map<String, Json> = values
        .map(|(name, value)| (name.clone(), to_json(value)))
        .collect();
    let state = Json::Object(state).to_string();
    let key = record.key.to_string();
    Ok(connection.execute(sql, (&record.kind, key, state, record.deleted))?)
}

/// Whether a record has a row of the table `kind_record`, or gets one: where a value of it has no column.
pub(super) fn has_state(connection: &Connection, record: &Record) -> Result<bool, Error> {
    let is_row = |kind: &&Kind| kind.table.is_some();
    let Some(kind) = kind::of(&record.kind).filter(is_row) else {
        return Ok(true);
    };
    if record.values.keys().any(|name| kind.field(name).is_none()) {
        return Ok(true);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM kind_record WHERE kind = ?1 AND key = ?2)";
    let key = record.key.to_string();
    Ok(connection.query_row(sql, (&record.kind, key), |row| row.get(0))?)
}

fn write_row(
    connection: &Connection,
    kind: &Kind,
    table: &str,
    record: &Record,
) -> Result<(), Error> {
    let layout = layout(kind);
    let columns: Vec<&Column<'_>> = in_table(&layout).collect();
    let place = |(n, column): (usize, &&Column<'_>)| match column {
        Column::Field(field) => match target(field) {
            Some(table) => format!("(SELECT id FROM {table} WHERE name = ?{n})"),
            None => format!("?{n}"),
        },
        _ => format!("?{n}"),
    };
    let places: Vec<String> = (1..).zip(&columns).map(place).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    let sets = names.iter().zip(&places).skip(1);
    let sets: Vec<String> = sets
        .map(|(column, place)| format!("{column} = {place}"))
        .collect();
    let sql = format!(
        "INSERT INTO {table} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
        names.join(", "),
        places.join(", "),
        names.first().unwrap_or(&"id"),
        sets.join(", ")
    );
    let row = columns.iter().map(|column| match column {
        Column::Number => Sql::Integer(record.number().max(record.id)),
        Column::Name => Sql::Text(record.name().to_owned()),
        Column::Field(field) => to_sql(field, record.value(&field.name)),
        Column::Deleted => Sql::Integer(record.deleted.into()),
    });
    connection
        .prepare_cached(&sql)?
        .execute(params_from_iter(row))?;
    write_list(connection, kind, table, record)
}

/// Writes the list of a record that another table has, all of it anew.
fn write_list(
    connection: &Connection,
    kind: &Kind,
    of: &str,
    record: &Record,
) -> Result<(), Error> {
    let field = kind
        .fields
        .iter()
        .find_map(|field| Some((field, field.rows?)));
    let Some((field, rows)) = field else {
        return Ok(());
    };
    let column = field.column;
    let value = match target(field) {
        Some(table) => format!("(SELECT id FROM {table} WHERE name = ?2)"),
        None => "?2".to_owned(),
    };
    connection
        .prepare_cached(&format!("DELETE FROM {rows} WHERE {of} = ?1"))?
        .execute([record.id])?;
    let sql = format!("INSERT INTO {rows} ({of}, {column}) VALUES (?1, {value})");
    for text in record.list(&field.name) {
        connection
            .prepare_cached(&sql)?
            .execute((record.id, text))?;
    }
    Ok(())
}

fn to_sql(field: &Field, value: &Value) -> Sql {
    if field.nullable && value == field.default_value() {
        return Sql::Null;
    }
    match value {
        Value::Text(text) => Sql::Text(text.clone()),
        Value::Whole(number) => Sql::Integer(*number),
        Value::Flag(flag) => Sql::Integer((*flag).into()),
        Value::Time(at) => Sql::Integer(at.0),
        Value::List(list) => Sql::Text(codec::join(list)),
        Value::None => match field.of {
            Type::Text(_) | Type::Choice(_) | Type::Texts(..) | Type::References(..) => {
                Sql::Text(String::new())
            }
            Type::Reference(_) if !field.numbered && !field.is_number_of_record() => {
                Sql::Text(String::new())
            }
            _ => Sql::Null,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions have it last, and one list at most is read and written.
    #[test]
    fn a_list_in_a_table_of_its_own_is_the_last_field() {
        for kind in kind::declared() {
            let places = kind.fields.iter().enumerate();
            let lists = places.filter(|(_, field)| field.rows.is_some());
            let lists: Vec<usize> = lists.map(|(place, _)| place + 1).collect();
            assert!(
                lists.is_empty() || lists == [kind.fields.len()],
                "{}: {lists:?}",
                kind.word
            );
        }
    }
}
