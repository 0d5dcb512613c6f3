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
# Files of the packages that Node does not read: source maps, types, reports, and binaries for other systems.
RUN find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' -o -path '*/coverage/*' \
  -o -path '*/prebuilds/*' ! -path '*/prebuilds/linux-*' \) -delete

# Node without npm and the headers of C++.
FROM debian:bookworm-slim
# Fonts for the scripts of the world, 48 MB. Empty: Latin, Greek, Cyrillic, Arabic and Hebrew letters only.
ARG FONTS="fonts-noto-core fonts-wqy-microhei"
# Further Debian packages, such as those of LibreOffice.
ARG PACKAGES=
# ffmpeg depends on drivers of graphics cards, 190 MB, and loads them only to use such a card. dpkg leaves out their files.
RUN printf 'path-exclude=/usr/lib/*/%s\n' 'libLLVM*' 'libz3*' 'dri/*' 'libmfxhw64*' 'mfx/*' > /etc/dpkg/dpkg.cfg.d/graphics \
  && apt-get update \
  && apt-get install -y --no-install-recommends ffmpeg $FONTS $PACKAGES \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/node /usr/local/bin/
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/config/chain.json /app/config/presets.json config/
COPY --from=build /app/scripts/node.sh /app/scripts/sluice.sh /app/scripts/health.js scripts/
# Your own plugins are mounted at /app/plugins. A new volume at /data gets the owner of the folder. The file has no VOLUME: Railway refuses it.
# sharp stores the list of fonts when it first draws a text. With a read-only file system, it would read all fonts in each process.
RUN ln -s /app/scripts/sluice.sh /usr/local/bin/sluice \
  && useradd --uid 1000 --create-home node \
  && node -e "require('sharp')({ text: { text: 'a' } }).png().toBuffer()" \
  && mkdir /app/plugins /data \
  && chown node:node /data
ENV NODE_ENV=production DATA_DIR=/data
# By number: Kubernetes cannot verify the name of a user (runAsNonRoot). It is the user node.
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "scripts/health.js"]
CMD ["sluice", "start"]
