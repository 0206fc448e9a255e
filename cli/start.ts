/** `npm start`: see cli/run-options.ts for what it takes. */
import '../install/require-node.mjs';
import { fail } from './fail.ts';
import { runInMesh } from './mesh-run.ts';
import { runInOneProcess } from './process-run.ts';
import { type StartOptions, startCommand } from './run-options.ts';
import { jsonPrinter, textPrinter } from './run-printer.ts';
import { refuseBusy } from './state-access.ts';
import { openStateFolder } from './state-folder.ts';

const options = startCommand().parse().opts<StartOptions>();
try {
  if (options.fresh) await refuseBusy(options.state);
  const stateDir = openStateFolder(options.state, options.fresh);
  const printer = options.json ? jsonPrinter() : textPrinter();
  await (options.inProcess ? runInOneProcess : runInMesh)(options, stateDir, printer);
  process.exit(0);
} catch (error) {
  fail(error, options.json);
}
