/**
 * Loads the kernels in Node: each of the committed binaries is compiled when it is first asked for, with pairs of operations as one where the engine can
 * and the products come out right.
 */
import { readFileSync } from 'node:fs';
import { compilePaired } from '../../kernels/node-revectorizer.ts';
import type { Build, Builds } from './builds.ts';
import { Heap } from './heap.ts';
import { importingShared } from './importing-shared.ts';
import { instantiate, type KernelInstance, MAX_PAGES } from './kernels.ts';
import { areProductsRight, wideTilesPay } from './paired-products.ts';

export const buildFile = (build: Build): URL => new URL(`../../kernels/infer-${build}.wasm`, import.meta.url);

/** V8 before 12 (Node 20) computes the relaxed dot product wrongly in code that it has not optimised yet. */
const trusted = (build: Build): boolean =>
  build !== 'dot' || Number.parseInt(process.versions.v8 ?? '0', 10) >= 12;

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

const binaryOf = (build: Build): Uint8Array<ArrayBuffer> => readFileSync(buildFile(build));

/** The module as V8 compiles it by default. */
export const unpaired = (build: Build, binary = binaryOf(build)): WebAssembly.Module =>
  new WebAssembly.Module(Uint8Array.from([...binary, ...EMPTY_SECTION]));

/** `heapFor`: a heap that an instance of the module takes, for trying it. */
function compile(
  build: Build,
  binary: Uint8Array<ArrayBuffer>,
  wideTiles: Set<Build>,
  heapFor: () => Heap | undefined,
): WebAssembly.Module | undefined {
  if (!trusted(build) || !WebAssembly.validate(binary)) return undefined;
  const paired = compilePaired(() => {
    const module = new WebAssembly.Module(binary);
    const instance = instantiate(module, heapFor());
    if (!isRight(instance, build)) return undefined;
    if (wideTilesPay(instance)) wideTiles.add(build);
    return module;
  });
  return paired ?? unpaired(build, binary);
}

/** Builds of which each is compiled when it is first asked for; undefined where the engine does not accept it. */
function lazily(binary: (build: Build) => Uint8Array<ArrayBuffer>, heapFor: () => Heap | undefined): Builds {
  const wideTiles = new Set<Build>();
  const compiled = new Map<Build, WebAssembly.Module | undefined>();
  const load = (build: Build): WebAssembly.Module | undefined => {
    if (!compiled.has(build)) compiled.set(build, compile(build, binary(build), wideTiles, heapFor));
    return compiled.get(build);
  };
  return {
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
}

const builds = lazily(binaryOf, () => undefined);

export const loadBuilds = (): Builds => builds;

const shared = lazily(
  (build) => importingShared(binaryOf(build)),
  () => new Heap(new WebAssembly.Memory({ initial: 2, maximum: MAX_PAGES, shared: true })),
);

/** The builds with a memory that threads share. Their bits are the same. */
export const loadSharedBuilds = (): Builds => shared;
