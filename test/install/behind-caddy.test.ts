/** The files of examples/server: Caddy with its Caddyfile in front of a service that `--url` names, as readers, pages and whoever orders meet both by TLS. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { standardHeaders } from '../../core/net/standard-webhook.ts';
import { nodeArguments } from '../../local/mesh/installation.ts';
import { IN_THE_NIGHT, NIGHT } from '../night.ts';

const CADDY = spawnSync('caddy', ['version']).status === 0;
const NAME = 'mesh.example.org';
const caddyfile = readFileSync('examples/server/Caddyfile', 'utf8');
const unit = readFileSync('examples/server/rollmesh.service', 'utf8');

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollmesh-caddy-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

/** What it wrote until now, to standard output and standard error. */
function begin(program: string, args: readonly string[]): { text: string } {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const heard = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Uint8Array) => {
      heard.text += new TextDecoder().decode(chunk);
    });
  return heard;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('the proxy, the unit and the command name one address, and the proxy asks this machine alone', () => {
  expect(caddyfile).toMatch(new RegExp(`^${NAME} \\{\n\treverse_proxy 127\\.0\\.0\\.1:8787\n\\}$`, 'm'));
  expect(unit).toContain(`rollmesh serve --url https://${NAME} `);
});

test.runIf(NIGHT && CADDY)(
  `behind the proxy: pages, readers, streams, uploads and orders, by a certificate of its own${IN_THE_NIGHT}`,
  async () => {
    const [own, outside] = [await freePort(), await freePort()];
    // As an owner has them, but for the ports, and for who signs the certificate.
    const site = caddyfile.replace(':8787', `:${own}`);
    const authority = `{
	admin off
	skip_install_trust
	local_certs
	auto_https disable_redirects
	default_bind 127.0.0.1
	https_port ${outside}
	storage file_system ${join(folder, 'caddy')}
}
`;
    const config = join(folder, 'Caddyfile');
    writeFileSync(config, authority + site);
    begin('caddy', ['run', '--adapter', 'caddyfile', '--config', config]);
    const service = begin(process.execPath, [
      ...nodeArguments('cli/rollmesh'),
      ...['serve', '--url', `https://${NAME}`, '--port', String(own), '--state', 'state', '--threads', '1'],
    ]);
    await expect
      .poll(() => service.text, { timeout: 120_000 })
      .toContain(`The mesh is up at https://${NAME}`);
    const root = join(folder, 'caddy/pki/authorities/local/root.crt');
    await expect.poll(() => existsSync(root), { timeout: 20_000 }).toBe(true);
    const ca = readFileSync(root);

    const asked = async (
      path: string,
      headers: Readonly<Record<string, string>> = {},
      method = 'GET',
      body: Uint8Array | string = '',
    ): Promise<IncomingMessage> => {
      const call = request({
        ...{ host: '127.0.0.1', port: outside, servername: NAME, ca, path, method },
        headers: { host: NAME, ...headers },
      });
      call.end(body);
      const [response] = (await once(call, 'response')) as [IncomingMessage];
      return response;
    };
    const read = async (response: IncomingMessage): Promise<string> =>
      Buffer.concat(await response.toArray()).toString();
    const status = async (...call: Parameters<typeof asked>) => {
      const response = await asked(...call);
      await read(response);
      return response.statusCode;
    };
    await expect.poll(() => status('/healthz').catch(String), { timeout: 20_000 }).toBe(200);

    const { READ_TOKEN, WEBHOOK_SECRET } = Object.fromEntries(
      readFileSync(join(folder, '.dev.vars'), 'utf8')
        .split('\n')
        .map((line) => line.split('=')),
    ) as Record<string, string>;
    const reader = { authorization: `Bearer ${READ_TOKEN}` };
    expect(await read(await asked('/'))).toContain('<title>');
    expect(await status('/api/runs')).toBe(401);
    expect(await status('/api/runs', reader)).toBe(200);
    // The page itself, pages of others, and whoever names another host.
    expect(await status('/api/runs', { ...reader, origin: `https://${NAME}` })).toBe(200);
    for (const foreign of [
      { origin: `http://${NAME}` },
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ])
      expect(await status('/api/runs', { ...reader, ...foreign })).toBe(403);
    // It asks the mesh for no other.
    expect(await read(await asked('/api/runs', { ...reader, host: 'other.example' }))).toBe('');

    // An event comes while its stream is open.
    const stream = await asked(`/api/events?run=${'0'.repeat(32)}`, reader);
    const [first] = (await once(stream, 'data')) as [Uint8Array];
    expect(new TextDecoder().decode(first)).toMatch(/^(?:event: change|: )/);
    stream.destroy();

    const order = {
      recipe: 'trio',
      rounds: 1,
      tasks: 2,
      groupSize: 2,
      engine: 'kernels',
      seed: 0,
      freeze: [],
    };
    const body = JSON.stringify(order);
    const signed = (secret: string) => ({
      'content-type': 'application/json',
      ...standardHeaders(secret, 'order_1', Math.floor(Date.now() / 1000), body),
    });
    expect(await status('/hooks/rounds', signed('0'.repeat(64)), 'POST', body)).toBe(401);
    expect(await status('/hooks/rounds', signed(WEBHOOK_SECRET!), 'POST', 'x'.repeat(100_000))).toBe(413);
    expect(await status('/hooks/rounds', signed(WEBHOOK_SECRET!), 'POST', body)).toBe(202);
    // What is proposed next can be pasted.
    await expect
      .poll(() => service.text, { timeout: 120_000 })
      .toMatch(/^ *1\/1 [\s\S]*^ {2}npx rollmesh policy export \S+ 1 DIR --state state$/m);
  },
);
