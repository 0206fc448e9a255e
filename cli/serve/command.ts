/** `npx rollmesh serve`: the mesh and its learner as a service of a server, see docs/server.md. */
import { spawnSync } from 'node:child_process';
import { Command, Option } from 'commander';
import { wrongInput } from '../../core/errors.ts';
import { ensureSecret } from '../../local/mesh/secrets.ts';
import { calledAs } from '../called-as.ts';
import { refuseTakenPort } from '../port.ts';
import { fail } from '../shared/fail.ts';
import { auditOption, collect, port, type StartOptions, startCommand, whole } from '../shared/run-options.ts';
import { refuseShared } from '../shared/state-access.ts';
import { openStateFolder, stateFlags } from '../shared/state-folder.ts';
import { jsonPrinter, type RunPrinter, textPrinter } from '../start/run-printer.ts';

type ServeOptions = Pick<
  StartOptions,
  'port' | 'state' | 'device' | 'threads' | 'nodes' | 'auditFraction' | 'json'
> & {
  readonly url?: string;
  readonly recipe: readonly string[];
};

export const command = (): Command =>
  new Command(calledAs('serve'))
    .description(
      'Runs the mesh and its learner as a service: goes on with the runs that were open, then waits for orders, until SIGTERM.',
    )
    .option(
      '--url <url>',
      'address of a proxy in front that ends TLS, as in https://mesh.example.org; reading needs READ_TOKEN then, which is made in .dev.vars where it has none',
    )
    .option('--port <n>', 'port of the gateway and the page, on 127.0.0.1', port, 8787)
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .option('--recipe <module>', 'recipe of your own that orders may name (repeat)', collect, [])
    .addOption(
      new Option('--device <name>', 'where the learner computes')
        .choices(['auto', 'cpu', 'webgpu'])
        .default('auto'),
    )
    .option('--threads <n>', 'threads of the CPU device', whole(1))
    .option('--nodes <n>', 'processes of this machine that share the sampling', whole(0), 0)
    .addOption(auditOption())
    .option('--json', 'one JSON object per line', false)
    .addHelpText('after', '\nA unit of systemd and a Caddyfile are in examples/server; docs/server.md.')
    .action(serve);

async function serve({ url, recipe, ...asked }: ServeOptions): Promise<void> {
  const outside = url === undefined ? undefined : originOf(url);
  const { openRecipes, withStateRecipes } = await import('../recipe-modules.ts');
  const opened = await openRecipes(recipe);
  refuseShared(asked.state);
  await refuseTakenPort(asked.port);
  process.on('uncaughtException', (error) => fail(error, asked.json));
  const stateDir = openStateFolder(asked.state, false);
  const printer = told(asked.json ? jsonPrinter() : await textPrinter(stateFlags(asked.state)));
  if (outside !== undefined && ensureSecret('.', 'READ_TOKEN'))
    printer.remark('made a READ_TOKEN in .dev.vars: readers of this mesh need it');
  const options = { ...startCommand().opts<StartOptions>(), ...asked, serve: true, resume: true, outside };
  const { runInMesh } = await import('../start/mesh-run.ts');
  await runInMesh(options, await withStateRecipes(opened, stateDir), stateDir, printer);
}

/** @throws RollmeshError `url.invalid` where it is no origin of https, or of this machine */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'https:' && text.replace(/\/$/, '') === url.origin) return url.origin;
  throw wrongInput('url.invalid', `${JSON.stringify(text)} is not the address of a proxy.`, {
    expected: 'https:// and a name, without a path',
    next: 'Leave --url out for a mesh that this machine alone may use.',
  });
}

/** Tells systemd, where it started this service, that orders are taken now. */
const told = (printer: RunPrinter): RunPrinter => ({
  ...printer,
  waiting: (url) => {
    printer.waiting(url);
    if (process.env.NOTIFY_SOCKET) spawnSync('systemd-notify', ['--ready'], { stdio: 'inherit' });
  },
});
