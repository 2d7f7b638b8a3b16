# A small image of murmur: docker build -t murmur .
FROM rust:1-slim AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package murmur-node --features quic && strip target/release/murmur

FROM gcr.io/distroless/cc-debian13
COPY --from=build /src/target/release/murmur /usr/local/bin/murmur
VOLUME /state
EXPOSE 7000
ENTRYPOINT ["/usr/local/bin/murmur"]
