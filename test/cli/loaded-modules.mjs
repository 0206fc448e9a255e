/** Loaded before the program (`node --import`): writes what it has loaded at its end to standard error, a URL per line. */

import { writeSync } from 'node:fs';
import nodeModule from 'node:module';

const loaded = new Set();
nodeModule.registerHooks({
  load(url, context, next) {
    loaded.add(url);
    return next(url, context);
  },
});
process.on('exit', () => writeSync(2, [...loaded].join('\n')));
