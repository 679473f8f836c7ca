//! A browser's debugging pipe: objects of JSON, each ended by a zero, both ways (the Chrome DevTools Protocol).

use crate::Error;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};

/// The end of a message.
const END: u8 = 0;

/// The pipe, in which one thing is asked after another.
pub struct Debug {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: u64,
    /// The page that is asked; the browser itself without one.
    session: Option<String>,
}

impl Debug {
    /// Of the pipe's two ends.
    pub fn new(to: ChildStdin, from: ChildStdout) -> Debug {
        Debug {
            to,
            from: BufReader::new(from),
            asked: 0,
            session: None,
        }
    }

    /// Asks for something, and waits for the answer.
    ///
    /// # Errors
    /// If the browser refuses it, or has ended.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, Error> {
        self.asked += 1;
        let mut question = json!({ "id": self.asked, "method": method, "params": params });
        if let Some(session) = &self.session {
            question["sessionId"] = json!(session);
        }
        let sent = self.to.write_all(format!("{question}\0").as_bytes());
        sent.map_err(|_| ended())?;
        loop {
            let mut answer = self.message()?;
            if answer["id"] == self.asked {
                return match answer.get("error") {
                    None => Ok(answer["result"].take()),
                    Some(error) => Err(Error::new(
                        format!("{method}: {error}"),
                        "install another Chromium",
                    )),
                };
            }
        }
    }

    /// Goes on with the only page there is.
    ///
    /// # Errors
    /// If there is none.
    pub fn attach(&mut self) -> Result<(), Error> {
        let targets = self.ask("Target.getTargets", json!({}))?;
        let targets = targets["targetInfos"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let page = targets.iter().find(|target| target["type"] == "page");
        let page = page.ok_or_else(|| Error::new("the browser has no page", "begin again"))?;
        let attached = self.ask(
            "Target.attachToTarget",
            json!({ "targetId": page["targetId"], "flatten": true }),
        )?;
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        Ok(())
    }

    fn message(&mut self) -> Result<Value, Error> {
        let mut bytes = Vec::new();
        let read = self.from.read_until(END, &mut bytes);
        match read {
            Ok(length) if length > 0 && bytes.pop() == Some(END) => serde_json::from_slice(&bytes)
                .map_err(|error| {
                    Error::new(
                        format!("the browser told: {error}"),
                        "install another Chromium",
                    )
                }),
            _ => Err(ended()),
        }
    }
}

fn ended() -> Error {
    Error::new("the browser ended", "try whether it runs by itself")
}
