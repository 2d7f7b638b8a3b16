# The image is the static program and nothing else. `scripts/release` makes the program and the image (with buildah):
#   scripts/release --target x86_64-unknown-linux-musl && docker build --build-arg BINARY=dist/murmur-x86_64-unknown-linux-musl -t murmur .
FROM scratch
ARG BINARY
COPY --chmod=755 ${BINARY} /murmur
# Folders that belong to the user of the image: volumes that are mounted there take their owner.
COPY --chown=65532:65532 scripts/state /state
COPY --chown=65532:65532 scripts/state /ledger
USER 65532:65532
# Beside the state, not in it: who restores an old state is found out.
ENV MURMUR_LEDGER=/ledger
VOLUME /state /ledger
EXPOSE 7000 7070
ENTRYPOINT ["/murmur"]
