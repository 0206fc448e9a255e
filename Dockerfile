# A node in a container: `docker build -t rollmesh-node .`, then `docker run -e ROLLMESH_NODE_TOKEN=… rollmesh-node --mesh https://…` (docs/nodes.md).
FROM node:24-slim
WORKDIR /rollmesh
COPY . .
RUN npm ci --no-audit --no-fund
USER node
ENTRYPOINT ["node", "--import", "./cli/install/typescript.mjs", "cli/rollmesh.ts", "node"]
