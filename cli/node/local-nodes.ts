/** Nodes of a local mesh for demonstration: processes of this machine that join as machines elsewhere would, each with a token of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeAnswer } from '../../core/schema/work.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { percent, whole } from '../shared/figures.ts';

export interface LocalNodes {
  readonly stop: () => Promise<void>;
}

/** What Node itself reads. The rest of the environment may hold secrets of the mesh, such as LEARNER_TOKEN, and a node needs none of it. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'];
const nodeEnvironment = (token: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    PASSED_ON.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  ),
  ROLLMESH_NODE_TOKEN: token,
});

/** The token of a local node: made once, and kept in the state folder, which is its owner's alone. */
async function tokenOf(
  gateway: Pick<GatewayClient, 'makeNode'>,
  stateDir: string,
  name: string,
): Promise<string> {
  const file = join(stateDir, `${name}.token`);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  // The processes are the owner's own, and sample everything.
  const { token } = await gateway.makeNode(name, { seesGold: true });
  writeFileSync(file, token, { mode: 0o600 });
  return token;
}

/** Starts nodes of one thread each; what they print is in `nodes.log` of the state folder. */
export async function startLocalNodes(
  url: string,
  gateway: Pick<GatewayClient, 'makeNode'>,
  stateDir: string,
  count: number,
  { notice, signal }: { readonly notice: (text: string) => void; readonly signal: AbortSignal },
): Promise<LocalNodes> {
  const log = createWriteStream(join(stateDir, 'nodes.log'), { flags: 'a' });
  log.on('error', (error) => notice(`the log of the nodes cannot be written: ${error.message}`));
  const children: ChildProcess[] = [];
  for (let i = 1; i <= count; i++) {
    const name = `node-${i}`;
    const token = await tokenOf(gateway, stateDir, name);
    const args = [...nodeArguments('cli/rollmesh'), 'node', '--mesh', url, '--threads', '1'];
    const child = spawn(process.execPath, args, {
      env: nodeEnvironment(token),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once('exit', (code) => {
      if (!signal.aborted)
        notice(`${name} has ended (${code}); its work is taken back. See nodes.log in the state folder.`);
    });
    children.push(child);
  }
  return {
    stop: async () => {
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = new Promise((resolve) => child.once('exit', resolve));
          child.kill('SIGTERM');
          const timer = setTimeout(() => child.kill('SIGKILL'), 3_000);
          await ended;
          clearTimeout(timer);
        }),
      );
    },
  };
}

/** A line for each node: its share of what nodes sampled, and what audits found. */
export function shareLines(nodes: readonly NodeAnswer[]): string[] {
  const all = nodes.reduce((sum, { samples }) => sum + samples, 0);
  return nodes.map(({ name, samples, audited, reason }) =>
    reason === null
      ? `${name} sampled ${percent(all ? samples / all : null)} of what nodes did: ${whole(samples)} completions, ${whole(audited)} of its requests audited and right`
      : `${name} was shut out: ${reason}`,
  );
}
