/**
 * Loads the kernels in Node: each of the committed binaries is compiled when it is first asked for, with pairs of operations as one where the engine can
 * and the products come out right.
 */
import { readFileSync } from 'node:fs';
import type { Build, Builds } from './builds.ts';
import { instantiate } from './kernels.ts';
import { areProductsRight, wideTilesPay } from './paired-products.ts';
import { compilePaired } from './revectorizer.ts';

export const buildFile = (build: Build): URL => new URL(`kernels-${build}.wasm`, import.meta.url);

/** V8 before 12 (Node 20) computes the relaxed dot product wrongly in code that it has not optimised yet. */
const trusted = (build: Build): boolean =>
  build !== 'dot' || Number.parseInt(process.versions.v8 ?? '0', 10) >= 12;

const wideTiles = new Set<Build>();

/** Undefined where the engine does not accept the build. */
function compile(build: Build): WebAssembly.Module | undefined {
  const binary = readFileSync(buildFile(build));
  if (!trusted(build) || !WebAssembly.validate(binary)) return undefined;
  const paired = compilePaired(() => {
    const module = new WebAssembly.Module(binary);
    const instance = instantiate(module);
    if (!areProductsRight(instance, build === 'dot')) return undefined;
    if (wideTilesPay(instance)) wideTiles.add(build);
    return module;
  });
  return paired ?? new WebAssembly.Module(binary);
}

const compiled = new Map<Build, WebAssembly.Module | undefined>();

function load(build: Build): WebAssembly.Module | undefined {
  if (!compiled.has(build)) compiled.set(build, compile(build));
  return compiled.get(build);
}

const builds: Builds = {
  get plain() {
    return load('plain');
  },
  get fused() {
    return load('fused');
  },
  get dot() {
    return load('dot');
  },
  wideTiles,
};

export const loadBuilds = (): Builds => builds;
