# A node: `docker build -t rollmesh-node .`, then `docker run -e ROLLMESH_NODE_TOKEN=… rollmesh-node --mesh https://…` (docs/nodes.md).
# A mesh as a service: `docker build --target server -t rollmesh-server .` (docs/server.md).
# The images have the packages that a clone makes, and nothing else of it.
FROM node:24-slim AS packed
WORKDIR /clone
COPY . .
RUN npm ci && mkdir /packages /starts \
 && npm pack --workspace rollmesh-onnxruntime --include-workspace-root --pack-destination /packages \
 && npm pack --workspace rollmesh-starts --pack-destination /starts

FROM node:24-slim AS server
WORKDIR /rollmesh
COPY --from=packed /packages /starts /packages/
# The pages of tabs are made where the installation may be written to.
RUN npm install --no-audit --no-fund /packages/*.tgz && rm -r /packages \
 && node --input-type=module --eval "(await import('/rollmesh/node_modules/rollmesh/dist/local/mesh/tab-pages.js')).ensureTabPages()" \
 && mkdir /data && chown node:node /data && chmod 700 /data
ENV PATH=/rollmesh/node_modules/.bin:$PATH
USER node
# State, secrets and recipes of one's own: a mesh is this folder.
WORKDIR /data
VOLUME /data
EXPOSE 8787
HEALTHCHECK --start-period=120s CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["rollmesh", "serve", "--state", "state"]

FROM node:24-slim
WORKDIR /rollmesh
COPY --from=packed /packages /packages
RUN npm install --omit=optional --no-audit --no-fund /packages/*.tgz && rm -r /packages
USER node
ENTRYPOINT ["node", "node_modules/rollmesh/dist/cli/rollmesh.js", "node"]
