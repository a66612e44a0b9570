//! Deposits into an account and prints its balance.
//!
//! ```sh
//! cargo run -p bank-client --example deposit -- unix:/var/lib/bankd/bankd.sock chem 1000
//! ```
//!
//! The first argument is one server, or the nodes of a cluster with commas between. Over TCP, set the key with
//! `Builder::key`.

use std::error::Error;

use bank_client::{
    Call, Client, list, new_key,
    v1::{Balance, BalanceQuery, List, NewDeposit},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(servers), Some(account), Some(amount)) = (words.next(), words.next(), words.next())
    else {
        return Err("usage: deposit SERVERS ACCOUNT AMOUNT".into());
    };
    let client = Client::builder().servers(list(&servers)).build()?;
    let deposit = NewDeposit {
        name: account.clone(),
        amount,
        ..NewDeposit::default()
    };
    // If the answer is lost, the call is repeated with this key: the money arrives once.
    let receipt = match client.deposit(&deposit, new_key()?) {
        Ok(receipt) => receipt,
        Err(error) if error.code() == Some("not_found") => {
            return Err(format!("no account {account}: {error}").into());
        }
        Err(error) => return Err(error.into()),
    };
    println!("deposited {} {}", receipt.amount, receipt.unit);
    let query = BalanceQuery {
        account: Some(receipt.account),
        ..BalanceQuery::default()
    };
    let balances: List<Balance> = client.to_end(&Call::balances(&query))?;
    for row in balances.items {
        println!(
            "{}: balance {}, available {}",
            row.account, row.balance, row.available
        );
    }
    println!("answered by {}", client.server());
    Ok(())
}
