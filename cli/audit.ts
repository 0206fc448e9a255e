/** `npm run audit -- ROUND`: reads a round's records again, draws a share of them again by the exact versions, and compares bit by bit. */
import '../install/require-node.mjs';
import { randomBytes } from 'node:crypto';
import { Argument, Command } from 'commander';
import type { GatewayClient } from '../api/gateway-client.ts';
import { wrongInput } from '../core/errors.ts';
import { readSecrets } from '../mesh/secrets.ts';
import { auditMesh } from './audit/audit-mesh.ts';
import { auditLines } from './audit/audit-table.ts';
import { fail } from './fail.ts';
import { openMesh } from './mesh-access.ts';
import { share } from './run-options.ts';

interface AuditOptions {
  readonly fraction: number;
  readonly state: string;
  readonly drawSeed?: string;
  readonly json: boolean;
}

/** An id, or `last`: the newest round that has ended. */
async function roundId(gateway: GatewayClient, asked: string): Promise<string> {
  if (/^[0-9a-f]{32}$/.test(asked)) return asked;
  const ended = asked === 'last' && (await gateway.newestRounds()).find(({ stage }) => stage === 'done');
  if (ended) return ended.id;
  throw wrongInput('audit.round', `There is no round ${JSON.stringify(asked)}.`, {
    expected: 'a round’s id, or `last` for the newest one that is done',
    next: 'The page and GET /api/rounds list them.',
  });
}

async function run(asked: string, { fraction, state, drawSeed, json }: AuditOptions): Promise<boolean> {
  const store = await openMesh(state);
  try {
    const report = await auditMesh(store.gateway, {
      round: await roundId(store.gateway, asked),
      fraction,
      meshKey: process.env.MESH_KEY ?? readSecrets('.').MESH_KEY,
      seed: drawSeed ?? randomBytes(16).toString('hex'),
    });
    for (const line of json ? [JSON.stringify(report)] : auditLines(report)) console.log(line);
    return report.findings.length === 0;
  } finally {
    await store.close();
  }
}

const command = new Command('npm run audit --')
  .description('Audits a round: exits with 1 if anything differs. Changes nothing.')
  .addArgument(new Argument('<round>', 'id of the round, or `last`'))
  .option(
    '--fraction <share>',
    'share of groups and proposals that are drawn again; all are read again',
    share,
    1,
  )
  .option('--draw-seed <text>', 'decides which share, to draw the same one again (default: random)')
  .option('--state <dir>', 'folder of all local state', '.rollmesh')
  .option('--json', 'one JSON object', false)
  .addHelpText('after', '\nA deployed mesh: set ROLLMESH_URL, LEARNER_TOKEN and MESH_KEY.');

try {
  const { args } = command.parse();
  const options = command.opts<AuditOptions>();
  process.exit((await run(args[0] ?? '', options)) ? 0 : 1);
} catch (error) {
  fail(error, command.opts<AuditOptions>().json);
}
