/** `rollmesh mcp`: the mesh as tools of an agent, by the Model Context Protocol over standard input and output. */
import { Command, InvalidArgumentError } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { readSecrets } from '../../local/mesh/secrets.ts';
import { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { calledAs } from '../called-as.ts';
import { gatewayAddress } from '../shared/mesh-access.ts';
import { findStateFolder } from '../shared/state-folder.ts';
import { ownerOf } from '../shared/state-lock.ts';
import type { Rights } from './tools.ts';

interface McpOptions {
  readonly state: string;
  readonly ceiling: number;
  readonly readOnly: boolean;
}

/** A mesh elsewhere, by the tokens of the environment; or the one that runs on the state folder, by those of `.dev.vars`. */
function meshAndTokens(
  state: string,
): Readonly<Record<'url' | 'read' | 'learner' | 'webhook', string | undefined>> {
  const { ROLLMESH_URL, READ_TOKEN, LEARNER_TOKEN, WEBHOOK_SECRET } = process.env;
  if (ROLLMESH_URL)
    return {
      url: gatewayAddress(ROLLMESH_URL),
      read: READ_TOKEN,
      learner: LEARNER_TOKEN,
      webhook: WEBHOOK_SECRET,
    };
  const folder = findStateFolder(state);
  const url = ownerOf(folder)?.url;
  if (!url)
    throw wrongInput('mcp.mesh', `No mesh runs on ${folder}.`, {
      expected: 'a running mesh, or the address of one elsewhere in ROLLMESH_URL',
      next: 'Start one: `npx rollmesh start --serve`.',
    });
  const { LEARNER_TOKEN: learner, WEBHOOK_SECRET: webhook, READ_TOKEN: read } = readSecrets('.');
  return { url, read, learner, webhook };
}

function rightsOf({ state, ceiling, readOnly }: McpOptions): Rights {
  const { url, read, learner, webhook } = meshAndTokens(state);
  const token = readOnly ? (read ?? learner) : (learner ?? read);
  return {
    gateway: new GatewayClient({ url: url!, token: token ?? '' }),
    stops: !readOnly && learner !== undefined,
    ...(readOnly || !webhook ? {} : { order: (order) => orderRounds(url!, webhook, order) }),
    ceiling,
  };
}

function dollarsOf(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || !Number.isFinite(value))
    throw new InvalidArgumentError('Expected an amount in dollars, as in 2 or 0.5.');
  return value;
}

export const command = (): Command =>
  new Command(calledAs('mcp'))
    .description(
      'Serves a mesh to an agent by the Model Context Protocol, over standard input and output: list and read runs, replay samples, order rounds, stop runs.',
    )
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--ceiling <dollars>', 'what all orders together may cost at the platform’s prices', dollarsOf, 1)
    .option('--read-only', 'neither orders nor stops', false)
    .addHelpText(
      'after',
      '\nA deployed mesh: set ROLLMESH_URL, and READ_TOKEN to read, LEARNER_TOKEN to stop runs as well, WEBHOOK_SECRET to order rounds.',
    )
    .action(async (options: McpOptions) => {
      const rights = rightsOf(options);
      const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
      const { mcpServer } = await import('./tools.ts');
      serveStdio(() => mcpServer(rights));
      await new Promise((resolve) => process.stdin.once('close', resolve));
    });
