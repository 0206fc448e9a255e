# A node in a container: `docker build -t rollmesh-node .`, then `docker run -e ROLLMESH_NODE_TOKEN=… rollmesh-node --mesh https://…` (docs/nodes.md).
# The image has the packages that a clone makes, and nothing else of it.
FROM node:24-slim AS packed
WORKDIR /clone
COPY . .
RUN npm ci && npm pack --workspace rollmesh-onnxruntime --include-workspace-root --pack-destination /packages

FROM node:24-slim
WORKDIR /rollmesh
COPY --from=packed /packages /packages
RUN npm install --omit=optional --no-audit --no-fund /packages/*.tgz && rm -r /packages
USER node
ENTRYPOINT ["node", "node_modules/rollmesh/dist/cli/rollmesh.js", "node"]
