//! `/api/events`: the run as server-sent events. `run` is the whole picture, `tick` what is new.
//!
//! A client is asked for nothing and waited for by nobody: while it is slow it skips, and then gets the picture as it is.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::Shared;
use crate::publish::Picture;

/// How long a client that goes away waits before it asks again.
const RETRY: Duration = Duration::from_secs(2);

pub(super) async fn events(State(shared): State<Shared>) -> Response {
    let Ok(seat) = Arc::clone(&shared.seats).try_acquire_owned() else {
        let retry = [(header::RETRY_AFTER, "5")];
        return (StatusCode::SERVICE_UNAVAILABLE, retry, "too many pages are open\n").into_response();
    };
    let reader =
        Reader { pictures: shared.pictures, seen: None, waiting: VecDeque::new(), over: false, _seat: seat };
    Sse::new(stream(reader)).keep_alive(KeepAlive::default()).into_response()
}

struct Reader {
    pictures: watch::Receiver<Arc<Picture>>,
    seen: Option<u64>,
    waiting: VecDeque<Event>,
    /// The last picture was taken.
    over: bool,
    _seat: OwnedSemaphorePermit,
}

fn stream(reader: Reader) -> impl Stream<Item = Result<Event, Infallible>> {
    futures::stream::unfold(reader, |mut reader| async {
        let event = reader.next().await?;
        Some((Ok(event), reader))
    })
}

impl Reader {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if self.over || (self.seen.is_some() && self.pictures.changed().await.is_err()) {
                return None;
            }
            let picture = self.pictures.borrow_and_update().clone();
            self.take(&picture);
        }
    }

    fn take(&mut self, picture: &Picture) {
        let ticks = self.seen.and_then(|seen| picture.since(seen));
        match ticks {
            Some(ticks) => {
                self.waiting.extend(ticks.map(|tick| Event::default().event("tick").data(tick)));
            }
            None => {
                let whole = serde_json::to_string(&picture.run).unwrap_or_default();
                self.waiting.push_back(Event::default().event("run").retry(RETRY).data(whole));
            }
        }
        self.seen = Some(picture.version);
        self.over = picture.over;
    }
}
