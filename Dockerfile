# The worker alone, for production; Temporal and Postgres are elsewhere (docker-compose.yml).
FROM node:22-bookworm-slim AS build
WORKDIR /sentinel
COPY package.json package-lock.json ./
COPY prisma ./prisma
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
# Local models are a choice of whoever installs the package; the image has them.
RUN npm run build && touch dist/.built && npm prune --omit=dev --no-audit --no-fund \
  && npm install --no-save --save-prod --omit=dev --no-audit --no-fund "node-llama-cpp@$(node -p "require('./package.json').devDependencies['node-llama-cpp']")"

FROM node:22-bookworm-slim
# What steps commonly need: git for code/git and projects, certificates for its https remotes, bubblewrap for
# runs that are sandboxed (docs/deployment.md says what the container needs for it).
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /sentinel
COPY --from=build --chown=node:node /sentinel ./
RUN mkdir -p .sentinel /projects && chown node:node .sentinel /projects
USER node
ENV NODE_ENV=production
# SIGTERM lets running steps end; docker-compose.yml gives them the time.
STOPSIGNAL SIGTERM
CMD ["node", "--heap-growing-percent=100", "--min-semi-space-size=16", "--no-memory-reducer", "dist/worker/main.js"]
