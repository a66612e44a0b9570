//! No circle between the files of a crate. The files of a folder are looked at as a level: a file, and
//! the folder of its children, count as one, and what a child takes from its own parent is no arrow.

use std::collections::{BTreeMap, BTreeSet};

use super::none_of;
use super::source::{Source, product};

/// A module: the crate's folder of sources, then the names down to it.
type Path = Vec<String>;
/// For each name that a module imports, its full path.
type Imports = BTreeMap<Path, BTreeMap<String, Path>>;
/// Arrows between the children of one module, each with a place as an example.
type Arrows = BTreeMap<(String, String), String>;

#[test]
fn no_circle_between_the_files_of_a_crate() {
    let mut findings = Vec::new();
    for (parent, arrows) in levels() {
        for circle in circles(&arrows) {
            let inside = |name: &String| circle.contains(name);
            let own = arrows
                .iter()
                .filter(|((from, to), _)| inside(from) && inside(to));
            let own = own.map(|((from, to), place)| format!("\n    {from} -> {to}: {place}"));
            let own: String = own.collect();
            findings.push(format!("{}: a circle:{own}", parent.join("::")));
        }
    }
    none_of(&findings);
}

/// The arrows of each level.
fn levels() -> BTreeMap<Path, Arrows> {
    let sources: Vec<(Path, &Source)> = product()
        .into_iter()
        .filter_map(|source| Some((module(&source.path)?, source)))
        .collect();
    let modules: BTreeSet<Path> = sources.iter().map(|(path, _)| path.clone()).collect();
    let mut imports = Imports::new();
    for (own, source) in &sources {
        for (_, path) in uses(&source.code) {
            if let (Some(full), Some(name)) = (absolute(own, &path, &modules), path.last()) {
                imports
                    .entry(own.clone())
                    .or_default()
                    .insert(name.clone(), full);
            }
        }
    }
    let mut levels: BTreeMap<Path, Arrows> = BTreeMap::new();
    for (own, source) in &sources {
        let named = uses(&source.code).into_iter().chain(inline(&source.code));
        for (line, path) in named {
            let Some(full) = absolute(own, &path, &modules) else {
                continue;
            };
            let Some(target) = owner(&full, &modules, &imports, 8) else {
                continue;
            };
            let common = own.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (own.get(common), target.get(common)) {
                let level = levels.entry(own[..common].to_vec()).or_default();
                let arrow = (from.clone(), to.clone());
                let place = format!("{}:{line}", source.path);
                level.entry(arrow).or_insert(place);
            }
        }
    }
    levels
}

/// The module of a file; none outside of a crate's sources.
fn module(file: &str) -> Option<Path> {
    let (krate, rest) = file.split_once("src/")?;
    let rest = rest.strip_suffix(".rs")?;
    let mut path = vec![format!("{krate}src")];
    path.extend(rest.split('/').map(str::to_owned));
    let name = path.last()?.as_str();
    if name == "mod" || (path.len() == 2 && (name == "lib" || name == "main")) {
        path.pop();
    }
    Some(path)
}

/// A path as written in a module, from the crate on; none where it leaves the crate.
fn absolute(own: &Path, path: &[String], modules: &BTreeSet<Path>) -> Option<Path> {
    let first = path.first()?;
    let (mut at, mut rest) = match first.as_str() {
        "crate" => (vec![own[0].clone()], &path[1..]),
        "self" => (own.clone(), &path[1..]),
        "super" => (own.clone(), path),
        _ => {
            let child = [own.as_slice(), std::slice::from_ref(first)].concat();
            modules.contains(&child).then_some((own.clone(), path))?
        }
    };
    while rest.first().is_some_and(|word| word == "super") {
        at.pop();
        rest = &rest[1..];
    }
    (!at.is_empty()).then(|| [at.as_slice(), rest].concat())
}

/// The module that has what a path names, through the imports of those on the way.
fn owner(full: &Path, modules: &BTreeSet<Path>, imports: &Imports, depth: usize) -> Option<Path> {
    let length = (1..=full.len())
        .rev()
        .find(|n| modules.contains(&full[..*n]))?;
    let (own, rest) = full.split_at(length);
    let imported = rest
        .first()
        .and_then(|name| imports.get(own)?.get(name))
        .filter(|_| depth > 0);
    match imported {
        Some(path) => {
            let path = [path.as_slice(), &rest[1..]].concat();
            owner(&path, modules, imports, depth - 1)
        }
        None => Some(own.to_vec()),
    }
}

/// Every path that a `use` names, with its line.
fn uses(code: &str) -> Vec<(usize, Path)> {
    let mut found = Vec::new();
    let mut at = 0;
    for (number, line) in (1..).zip(code.split_inclusive('\n')) {
        let text = line.trim_start();
        let text = text.strip_prefix("pub").map_or(text, |rest| {
            let rest = rest
                .split_once(')')
                .filter(|_| rest.starts_with('('))
                .map_or(rest, |two| two.1);
            rest.trim_start()
        });
        if let Some(tree) = text.strip_prefix("use ") {
            let start = at + line.len() - tree.len();
            let end = code[start..]
                .find(';')
                .map_or(code.len(), |end| start + end);
            let mut paths = Vec::new();
            tree_paths(&code[start..end], &[], &mut paths);
            found.extend(paths.into_iter().map(|path| (number, path)));
        }
        at += line.len();
    }
    found
}

/// The paths of a `use` tree.
fn tree_paths(tree: &str, before: &[String], found: &mut Vec<Path>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let head = tree[..open].trim_end().trim_end_matches("::");
        let before = [before, &words(head)].concat();
        let inner = tree[open + 1..].trim_end().trim_end_matches('}');
        let (mut depth, mut from) = (0, 0);
        for (at, letter) in inner.char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    tree_paths(&inner[from..at], &before, found);
                    from = at + 1;
                }
                _ => {}
            }
        }
        tree_paths(&inner[from..], &before, found);
    } else if !tree.is_empty() {
        let named = tree.split(" as ").next().unwrap();
        let mut path = [before, &words(named)].concat();
        if path
            .last()
            .is_some_and(|word| word == "self" || word == "*")
        {
            path.pop();
        }
        found.push(path);
    }
}

fn words(path: &str) -> Path {
    let words = path.split("::").map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Paths in the code itself that begin with `crate` or `super`, with their lines.
fn inline(code: &str) -> Vec<(usize, Path)> {
    let mut found = Vec::new();
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for (number, line) in (1..).zip(code.lines()) {
        for word in line.split(|c| !part(c)) {
            if word.starts_with("crate::") || word.starts_with("super::") {
                found.push((number, words(word)));
            }
        }
    }
    found
}

/// Names that reach each other.
fn circles(arrows: &Arrows) -> Vec<BTreeSet<String>> {
    let names: BTreeSet<&String> = arrows.keys().flat_map(|(from, to)| [from, to]).collect();
    let reach = |start: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start.clone()]);
        while let Some(at) = open.pop() {
            for (_, to) in arrows.keys().filter(|(from, _)| *from == at) {
                if seen.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        names.iter().map(|name| (*name, reach(name))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for name in names {
        let both = |other: &&String| reached[*other].contains(name);
        let circle: BTreeSet<String> = reached[name].iter().filter(both).cloned().collect();
        if circle.contains(name) && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}
