/** The gateway's build step in wrangler.toml: says that a bare `wrangler deploy` is one Worker of four, and which command is the whole mesh. */
const { ROLLMESH_DEPLOY } = process.env;

if (!ROLLMESH_DEPLOY)
  process.stdout.write(`
This is the gateway alone, one Worker of four (npx wrangler deploy --env gateway). The whole mesh, with its database,
bucket, queues, migrations and secrets, in the right order:  npx rollmesh deploy  (--dry-run says what it would do)
`);
