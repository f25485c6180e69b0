# Footfall in a container. It does not run as root and writes only to the spool. Operators build and run the image; CI has no Docker and only
# checks that the compose files are well formed. Images are named by their exact version. To pin the digest too, append the one that
# `docker buildx imagetools inspect node:26.10.0-bookworm-slim` prints: `node:26.10.0-bookworm-slim@sha256:…`.
FROM node:26.10.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --omit=dev

FROM node:26.10.0-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 COLLECTOR_HOST=0.0.0.0 CONSOLE_HOST=0.0.0.0 SPOOL_FOLDER=/spool TMPDIR=/uploads
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY packages packages
COPY migrations migrations
COPY src src
# For `docker compose exec footfall footfall key list`. The file starts with a line that names its interpreter.
RUN mkdir /spool /backups /imports /uploads && chown node /spool /backups /uploads \
  && chmod +x src/cli/start.ts && ln -s /app/src/cli/start.ts /usr/local/bin/footfall
VOLUME /spool
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=2s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/livez`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["footfall"]
CMD ["serve"]
