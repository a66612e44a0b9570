//! A small HTTP server of the tests, in the place of Prometheus, Nomad and Kubernetes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A server; it ends with its owner.
pub(super) struct Site {
    at: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Site {
    /// `answer` gets the target, and gives status and body; status 0 hangs up.
    pub(super) fn new(answer: impl Fn(&str) -> (u16, String) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let Some(Ok(first)) = lines.next() else {
                    continue;
                };
                // All of it is read, else the client sees a reset.
                lines
                    .map_while(Result::ok)
                    .take_while(|line| !line.is_empty())
                    .for_each(drop);
                let (status, body) = answer(first.split(' ').nth(1).unwrap());
                if status != 0 {
                    let length = body.len();
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                    );
                    // A client may have gone.
                    let _ = stream.write_all((head + &body).as_bytes());
                }
            }
        });
        Self { at, is_over }
    }

    /// `[http]` of a collector's settings.
    pub(super) fn http(&self) -> String {
        format!("[http]\nurl = \"http://{}\"\nretries = 0\n", self.at)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.at);
    }
}
