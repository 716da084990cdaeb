# Two images, of this tree:
#
#   docker build -t postgres-tde_column .                            PostgreSQL's official image with the extension
#   docker build --target extension -t tde_column-extension .        the extension alone, for CloudNativePG's image volumes (PostgreSQL 18 or later)
#
# PG_MAJOR chooses the version.  BASE is what the libraries are built on, and has to be of the Debian on which they are to run: for CloudNativePG
# --build-arg BASE=ghcr.io/cloudnative-pg/postgresql:18-minimal-trixie.

ARG PG_MAJOR=18
ARG BASE=docker.io/library/postgres:${PG_MAJOR}-trixie

FROM ${BASE} AS build
ARG PG_MAJOR
# hadolint ignore=DL3002
USER 0
# What the suite has at the time, security fixes included.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev libssl-dev zlib1g-dev make "postgresql-server-dev-${PG_MAJOR}" \
 && rm -rf /var/lib/apt/lists/*
COPY . /src
WORKDIR /src
RUN packaging/volume /volume PG_CONFIG="/usr/lib/postgresql/${PG_MAJOR}/bin/pg_config"

FROM scratch AS extension
COPY --from=build /volume/ /
USER 65532:65532

FROM ${BASE}
ARG PG_MAJOR
# As in the official image, whose entry point starts the server as postgres.
# hadolint ignore=DL3002
USER 0
COPY --from=build /volume/lib/ /usr/lib/postgresql/${PG_MAJOR}/lib/
COPY --from=build /volume/share/ /usr/share/postgresql/${PG_MAJOR}/
COPY --from=build /volume/licenses/ /usr/share/doc/
# For the wallet, which belongs on a volume of its own: without it and its passphrase data and backups are lost.
RUN install -d -o postgres -g postgres -m 700 /etc/tde_column
VOLUME /etc/tde_column
CMD ["postgres", "-c", "shared_preload_libraries=tde_column", "-c", "tde_column.wallet_file=/etc/tde_column/wallet.p12"]
