/** Audits the round that a command names and prints the table. */
import { randomBytes } from 'node:crypto';
import { wrongInput } from '../../core/errors.ts';
import { readSecrets } from '../../local/mesh/secrets.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { printable } from '../printable.ts';
import { openRecipesOf } from '../recipe-modules.ts';
import { openMesh } from '../shared/mesh-access.ts';
import { auditMesh } from './audit-mesh.ts';
import { auditLines } from './audit-table.ts';

export interface AuditOptions {
  readonly recipe: readonly string[];
  readonly fraction: number;
  readonly state: string;
  readonly drawSeed?: string;
  readonly json: boolean;
}

/** The id of the round that is meant: `asked` is an id, or `last` for the newest round that has ended. */
export async function roundId(gateway: Pick<GatewayClient, 'newestRounds'>, asked: string): Promise<string> {
  if (/^[0-9a-f]{32}$/.test(asked)) return asked;
  const ended = asked === 'last' && (await gateway.newestRounds()).find(({ state }) => state === 'done');
  if (ended) return ended.id;
  if (asked === 'last')
    throw wrongInput('audit.round', 'No round is done yet.', {
      next: 'Wait for the first round of a run to be trained; the page shows how far it is.',
    });
  throw wrongInput('audit.round', `There is no round ${JSON.stringify(asked)}.`, {
    expected: 'a round’s id, or `last` for the newest one that is done',
    next: 'The page and GET /api/rounds list them.',
  });
}

export async function audit(
  asked: string,
  { recipe, fraction, state, drawSeed, json }: AuditOptions,
): Promise<boolean> {
  const store = await openMesh(state);
  try {
    const round = await roundId(store.gateway, asked);
    const { spec } = await store.gateway.getRound(round);
    const { registry } = await openRecipesOf([spec.settings.recipe], state, recipe);
    const report = await auditMesh(store.gateway, {
      recipes: registry,
      round,
      fraction,
      meshKey: process.env.MESH_KEY ?? readSecrets('.').MESH_KEY,
      seed: drawSeed ?? randomBytes(16).toString('hex'),
    });
    for (const line of json ? [JSON.stringify(report)] : auditLines(report).map(printable)) console.log(line);
    return report.findings.length === 0;
  } finally {
    await store.close();
  }
}
