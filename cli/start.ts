/** `npm start`: see cli/run-options.ts for what it takes. */
import { fail } from './fail.ts';
import { refuseTakenPort } from './port.ts';
import { type StartOptions, startCommand } from './run-options.ts';
import { jsonPrinter, textPrinter } from './run-printer.ts';
import { refuseBusy, refuseShared } from './state-access.ts';
import { openStateFolder } from './state-folder.ts';

const options = startCommand().parse().opts<StartOptions>();
// A full disk shows first where nobody waits for it: in a log's stream.
process.on('uncaughtException', (error) => fail(error, options.json));
try {
  if (options.fresh) refuseBusy(options.state);
  else refuseShared(options.state);
  if (!options.inProcess) await refuseTakenPort(options.port);
  const stateDir = openStateFolder(options.state, options.fresh);
  const printer = options.json ? jsonPrinter() : textPrinter();
  // Only now, since they take seconds to load: what is wrong with the options is said at once.
  const run = options.inProcess
    ? (await import('./process-run.ts')).runInOneProcess
    : (await import('./mesh-run.ts')).runInMesh;
  await run(options, stateDir, printer);
  process.exit(0);
} catch (error) {
  fail(error, options.json);
}
