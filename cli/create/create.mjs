#!/usr/bin/env node
/** `npm create rollmesh FOLDER`: what `rollmesh init FOLDER` does, without an installation first. */
process.argv.splice(2, 0, 'init');
await import('rollmesh/cli');
