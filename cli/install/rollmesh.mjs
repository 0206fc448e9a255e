#!/usr/bin/env node
/** `npx rollmesh` in a clone of the repository: the program, from its sources. `npm ci` puts a link to this file into node_modules/.bin. */
import './require-node.mjs';
import './typescript.mjs';

await import('../rollmesh.ts');
