/** Imported first by every command: ends the process with a clear error where its Node is too old. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isCurrent, OLDEST_NODE } from './node-version.mjs';

if (!isCurrent(process.version)) {
  const bring = relative('.', fileURLToPath(new URL('node.mjs', import.meta.url)));
  console.error(
    `node.old: This is Node ${process.version} (${process.execPath}). Expected Node ${OLDEST_NODE} or later. ` +
      'Start through `npm` or `npx`, which take the Node that `npm ci` put into node_modules/.bin; where there is none, ' +
      `run \`node ${bring}\` first.`,
  );
  process.exit(1);
}
