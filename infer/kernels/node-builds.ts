/**
 * Loads the kernels in Node: each of the committed binaries is compiled when it is first asked for, with pairs of operations as one where the engine can
 * and the products come out right.
 */
import { readFileSync } from 'node:fs';
import type { Build, Builds } from './builds.ts';
import { instantiate, type KernelInstance } from './kernels.ts';
import { areProductsRight, wideTilesPay } from './paired-products.ts';
import { compilePaired } from './revectorizer.ts';

export const buildFile = (build: Build): URL => new URL(`kernels-${build}.wasm`, import.meta.url);

/** V8 before 12 (Node 20) computes the relaxed dot product wrongly in code that it has not optimised yet. */
const trusted = (build: Build): boolean =>
  build !== 'dot' || Number.parseInt(process.versions.v8 ?? '0', 10) >= 12;

const wideTiles = new Set<Build>();

function isRight(instance: KernelInstance, build: Build): boolean {
  try {
    return areProductsRight(instance, build === 'dot');
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return false;
    throw error;
  }
}

/** An empty section, which means nothing. V8 keeps what it compiled by the bytes of a module, so that other code needs other bytes. */
const EMPTY_SECTION = [0, 2, 1, 'u'.charCodeAt(0)];

/** The module as V8 compiles it by default. */
export const unpaired = (build: Build): WebAssembly.Module =>
  new WebAssembly.Module(Uint8Array.from([...readFileSync(buildFile(build)), ...EMPTY_SECTION]));

/** Undefined where the engine does not accept the build. */
function compile(build: Build): WebAssembly.Module | undefined {
  const binary = readFileSync(buildFile(build));
  if (!trusted(build) || !WebAssembly.validate(binary)) return undefined;
  const paired = compilePaired(() => {
    const module = new WebAssembly.Module(binary);
    const instance = instantiate(module);
    if (!isRight(instance, build)) return undefined;
    if (wideTilesPay(instance)) wideTiles.add(build);
    return module;
  });
  return paired ?? unpaired(build);
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
