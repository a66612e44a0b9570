mod again;
mod fixture;
mod money;
mod routes;
mod stream;
mod trouble;
