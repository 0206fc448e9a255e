/** Commands that ask a mesh something and end: the options that all of them have, and the mesh that they mean. */
import type { Command } from 'commander';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { openMesh } from './mesh-access.ts';

export interface MeshOptions {
  readonly state: string;
  readonly json: boolean;
}

/** What adds a subcommand to `command`. */
export const meshSubcommands =
  (command: Command) =>
  (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .option('--state <dir>', 'folder of all local state', '.rollmesh')
      .option('--json', 'one JSON object per line', false);

/** Asks the mesh that `openMesh` finds, and closes it whatever comes of it. */
export async function onMesh<T>(state: string, ask: (gateway: GatewayClient) => Promise<T>): Promise<T> {
  const { gateway, close } = await openMesh(state);
  try {
    return await ask(gateway);
  } finally {
    await close();
  }
}
