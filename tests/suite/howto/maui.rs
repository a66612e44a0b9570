//! `docs/how-to/connect-maui.md`: a site from nothing, and one job's life as Maui tells it to the
//! gateway.

use super::Site;
use crate::harness::Dialect;

/// A call as Maui makes it.
fn call(address: &str, key: &str, action: &str, more: &str) -> String {
    let body = format!(
        "<Body actor=\"root\"><Request action=\"{action}\" actor=\"root\"><Object>Job</Object><Data>\
         <Job><JobId>job1</JobId><UserId>amy</UserId><ProjectId>chemistry</ProjectId>\
         <MachineName>cluster1</MachineName><Processors>4</Processors>{more}</Job></Data></Request>\
         </Body>"
    );
    let message = Dialect::Maui.message(key, &body);
    Dialect::Maui.ask(address, &message).unwrap()
}

#[test]
fn connecting_maui_by_the_page() {
    let mut site = Site::new();
    site.follow("connect-maui.md");
    assert!(
        site.printed.contains("nothing here defeats the bank\n"),
        "{}",
        site.printed
    );
    let gateway = site
        .listens
        .iter()
        .find_map(|line| line.strip_prefix("listening gold://"));
    let gateway = gateway
        .expect("the daemon says where the gateway is")
        .to_owned();
    let key = std::fs::read_to_string(site.path("/etc/bank/maui.key")).unwrap();
    let key = key.trim();

    let output = call(&gateway, key, "Reserve", "<WallDuration>600</WallDuration>");
    assert!(output.contains("<Code>000</Code>"), "{output}");
    let balance = site.run("bank balance chemistry -P -n");
    assert!(
        balance.starts_with("chemistry|1000000|0|2400|997600|"),
        "{balance}"
    );
    let end = "<WallDuration>4</WallDuration><StartTime>1795216020</StartTime>\
               <EndTime>1795216024</EndTime><Type>job</Type>";
    let output = call(&gateway, key, "Charge", end);
    assert!(output.contains("<Code>000</Code>"), "{output}");
    let balance = site.run("bank balance chemistry -P -n");
    assert!(
        balance.starts_with("chemistry|1000000|16|0|999984|"),
        "{balance}"
    );
    let output = call(
        &gateway,
        "another",
        "Reserve",
        "<WallDuration>600</WallDuration>",
    );
    assert!(output.contains("<Code>422</Code>"), "{output}");
    site.verify();
}
