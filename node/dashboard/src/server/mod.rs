//! The HTTP side: a thread of its own with a runtime of its own, so that no visitor ever takes time from the node's network.

mod access;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::middleware;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot, watch};

use crate::address::Place;
use crate::metrics;
use crate::publish::Picture;
use access::Access;

/// Connections at a time; more wait.
const MOST_CONNECTIONS: usize = 128;
/// Pages that are kept up to date at a time.
const MOST_STREAMS: usize = 32;
/// How long a visitor may take to say what it wants, and a connection may idle.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long visitors have to take the last picture.
const FAREWELL: Duration = Duration::from_secs(1);

/// What handlers see.
#[derive(Clone)]
struct Shared {
    pictures: watch::Receiver<Arc<Picture>>,
    seats: Arc<Semaphore>,
}

/// Serves until `stop` is ready or dropped.
pub(crate) fn serve(
    place: Place,
    pictures: watch::Receiver<Arc<Picture>>,
    stop: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(place.listener)?;
        let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let router = router(Access::new(place.token), pictures);
        tokio::select! {
            () = accept(&listener, &connections, &router) => {}
            _ = stop => {}
        }
        drop(listener);
        // Streams end with the last picture; whoever does not take it has had the time.
        let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(FAREWELL, connections.acquire_many(all)).await;
        Ok(())
    })
}

async fn accept(listener: &TcpListener, connections: &Arc<Semaphore>, router: &Router) {
    loop {
        let Ok(permit) = Arc::clone(connections).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, most likely: the node needs them more.
                tracing::debug!(%error, "a visitor could not be let in");
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // A visitor that breaks off is no event.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
            drop(permit);
        });
    }
}

fn router(access: Access, pictures: watch::Receiver<Arc<Picture>>) -> Router {
    let seats = Arc::new(Semaphore::new(MOST_STREAMS));
    Router::new()
        .route("/", get(|| async { Html(include_str!("../../page/index.html")) }))
        .route("/app.js", get(|| asset("text/javascript; charset=utf-8", APP)))
        .route("/style.css", get(|| asset("text/css; charset=utf-8", include_str!("../../page/style.css"))))
        .route("/icon.svg", get(|| asset("image/svg+xml", include_str!("../../page/icon.svg"))))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/api/status", get(status))
        .route("/api/run", get(run))
        .route("/api/events", get(stream::events))
        .route("/metrics", get(scrape))
        .with_state(Shared { pictures, seats })
        .layer(middleware::from_fn_with_state(access, access::guard))
}

/// The scripts of the page in the order in which they need each other.
const APP: &str = concat!(
    include_str!("../../page/format.js"),
    include_str!("../../page/chart.js"),
    include_str!("../../page/flock.js"),
    include_str!("../../page/panels.js"),
    include_str!("../../page/main.js")
);

async fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

async fn status(State(shared): State<Shared>) -> Response {
    json(&shared.pictures.borrow().clone().run.status)
}

async fn run(State(shared): State<Shared>) -> Response {
    json(&shared.pictures.borrow().clone().run)
}

async fn scrape(State(shared): State<Shared>) -> Response {
    let picture = shared.pictures.borrow().clone();
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], metrics::text(&picture.run)).into_response()
}

fn json(value: &impl serde::Serialize) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default() + "\n";
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
