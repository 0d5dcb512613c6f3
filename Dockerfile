# One image for the server, the worker and the release check: docs/how-to/container.md.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY dashboard/package.json dashboard/package-lock.json dashboard/
RUN npm ci --prefix dashboard --no-audit --no-fund
COPY client client
COPY config config
COPY dashboard dashboard
COPY plugins plugins
COPY scripts scripts
COPY src src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
# Fonts for the scripts of the world, 134 MB. Empty: Latin, Greek, Cyrillic, Arabic and Hebrew letters only.
ARG FONTS="fonts-noto-core fonts-noto-cjk"
# Further Debian packages, such as those of LibreOffice.
ARG PACKAGES=
RUN apt-get update \
  && apt-get install -y --no-install-recommends ffmpeg $FONTS $PACKAGES \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/config/chain.json /app/config/presets.json config/
COPY --from=build /app/scripts/node.sh /app/scripts/sluice.sh /app/scripts/health.js scripts/
# Your own plugins are mounted at /app/plugins. A new volume at /data gets the owner of the folder. The file has no VOLUME: Railway refuses it.
RUN ln -s /app/scripts/sluice.sh /usr/local/bin/sluice \
  && mkdir /app/plugins /data \
  && chown node:node /data
ENV NODE_ENV=production DATA_DIR=/data
# By number: Kubernetes cannot verify the name of a user (runAsNonRoot). It is the user node.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "scripts/health.js"]
CMD ["sluice", "start"]
