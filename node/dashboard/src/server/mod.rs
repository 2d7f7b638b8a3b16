//! The HTTP side: a thread of its own with a runtime of its own, so that no visitor ever takes time from the node's network.

mod access;
mod door;
mod guesses;
mod stream;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot, watch};

use crate::address::Place;
use crate::health::Health;
use crate::metrics::{self, Dialect};
use crate::publish::Picture;
use access::Access;
use door::{Door, Visitor};

/// Pages that are kept up to date at a time.
const MOST_STREAMS: usize = 32;
/// How long a visitor may take to say what it wants, and a connection may idle.
const PATIENCE: Duration = Duration::from_secs(5);
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
        let (door, router) = (Door::default(), router(Access::new(place.token), pictures));
        tokio::select! {
            () = accept(&listener, &door, &router) => {}
            _ = stop => {}
        }
        drop(listener);
        // Streams end with the last picture; whoever does not take it has had the time.
        let _ = tokio::time::timeout(FAREWELL, door.until_empty()).await;
        Ok(())
    })
}

async fn accept(listener: &TcpListener, door: &Door, router: &Router) {
    loop {
        let (stream, address) = match listener.accept().await {
            Ok((stream, address)) => (stream, address.ip().to_canonical()),
            Err(error) => {
                // Out of file descriptors, most likely: the node needs them more.
                tracing::debug!(%error, "a visitor could not be let in");
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        // Where all places are taken by visitors there is none for another.
        let Some(place) = door.enter(address) else { continue };
        let router = router.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = converse(stream, router, place.visitor.clone()) => {}
                () = place.visitor.must_leave() => {}
            }
            drop(place);
        });
    }
}

/// What a visitor from this machine is answered that sends these bytes and then nothing: for fuzzing.
pub(crate) fn heard(
    bytes: &[u8],
    token: &str,
    pictures: watch::Receiver<Arc<Picture>>,
) -> std::io::Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (near, mut far) = tokio::io::duplex(1 << 20);
        let router = router(Access::new(Some(token.to_owned())), pictures);
        let here = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
        let Some(place) = Door::default().enter(here) else { return Ok(Vec::new()) };
        let mut answer = Vec::new();
        let visit = async {
            far.write_all(bytes).await?;
            far.shutdown().await?;
            far.read_to_end(&mut answer).await
        };
        // Whatever is not answered in this time waits for more.
        let both = async { tokio::join!(converse(near, router, place.visitor.clone()), visit) };
        let _ = tokio::time::timeout(FAREWELL, both).await;
        Ok(answer)
    })
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    visitor: Visitor,
) {
    let answer = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(visitor.clone());
        answer.call(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // A visitor that breaks off is no event.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

fn router(access: Access, pictures: watch::Receiver<Arc<Picture>>) -> Router {
    let seats = Arc::new(Semaphore::new(MOST_STREAMS));
    Router::new()
        .route("/", get(|| async { Html(include_str!("../../page/index.html")) }))
        .route("/app.js", get(|| asset("text/javascript; charset=utf-8", APP)))
        .route("/style.css", get(|| asset("text/css; charset=utf-8", include_str!("../../page/style.css"))))
        .route("/icon.svg", get(|| asset("image/svg+xml", include_str!("../../page/icon.svg"))))
        .route("/healthz", get(health))
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

async fn scrape(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let picture = shared.pictures.borrow().clone();
    let dialect = Dialect::wanted(headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()));
    ([(header::CONTENT_TYPE, dialect.content_type())], metrics::text(&picture.run, dialect)).into_response()
}

async fn health(State(shared): State<Shared>) -> Response {
    let health = shared.pictures.borrow().progress.health(Instant::now());
    let code =
        if matches!(health, Health::Stuck(_)) { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    (code, health.line()).into_response()
}

fn json(value: &impl serde::Serialize) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default() + "\n";
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
