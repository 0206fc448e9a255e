// Sets a V8 flag of vitest.config.ts in a process that a test starts; Node takes it in no variable, and not every variable is passed on.
require('node:v8').setFlagsFromString('--wasm-tiering-budget=200000000');
