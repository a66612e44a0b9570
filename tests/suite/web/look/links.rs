//! Every link of the pages of the demo leads to a page or to data, for the person who sees it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::browser::HEADER;
use super::site::{PEOPLE, Site};
use super::walk::pattern;
use crate::harness::{Address, Request, Response, exchange};

/// Addresses of one kind that are opened.
const OF_A_KIND: usize = 2;

/// The page of an address with the names of its parameters.
fn kind(target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let names: BTreeSet<&str> = query
        .split('&')
        .filter_map(|pair| pair.split('=').next())
        .collect();
    format!("{} {names:?}", pattern(path).unwrap_or(path))
}

fn links(page: &str) -> Vec<String> {
    let links = page.split(" href=\"").skip(1);
    let links = links.map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
    let links = links.map(|link| link.split('#').next().unwrap().to_owned());
    links
        .filter(|link| link.starts_with('/') && !link.starts_with("/static/"))
        .collect()
}

fn get(site: &Site, name: &str, cookie: &str, target: &str) -> Response {
    let request = Request::get(target)
        .header(HEADER, name)
        .header("Cookie", cookie);
    exchange(&Address::Tcp(site.host().to_owned()), &request).unwrap()
}

/// The links of a person that lead nowhere, and how many were followed.
fn broken(site: &Site, name: &str) -> (Vec<String>, usize) {
    let answer = get(site, name, "", "/login");
    let cookie = answer.header("set-cookie").expect("a session");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let mut open = VecDeque::from([("/".to_owned(), "/".to_owned())]);
    let mut seen = BTreeSet::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut broken = Vec::new();
    while let Some((target, from)) = open.pop_front() {
        let count = kinds.entry(kind(&target)).or_default();
        if *count == OF_A_KIND || !seen.insert(target.clone()) {
            continue;
        }
        *count += 1;
        let answer = get(site, name, &cookie, &target);
        if answer.status != 200 {
            broken.push(format!("{name}: {} {target}, from {from}", answer.status));
        }
        let media = answer.header("content-type").unwrap_or_default();
        if media.starts_with("text/html") {
            let found = links(&answer.text()).into_iter();
            open.extend(found.map(|link| (link, target.clone())));
        }
    }
    (broken, kinds.values().sum())
}

#[test]
fn every_link_of_the_demo_leads_somewhere() {
    let site = Site::demo();
    for name in PEOPLE {
        let (broken, count) = broken(&site, name);
        assert!(count > 100, "{name}: only {count} links");
        assert_eq!(broken, Vec::<String>::new());
    }
}
