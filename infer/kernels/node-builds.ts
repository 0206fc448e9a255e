/** Loads the kernels in Node: the committed binaries are compiled at the first use. */
import { readFileSync } from 'node:fs';
import { BUILDS, type Build, type Builds } from './builds.ts';

export const buildFile = (build: Build): URL => new URL(`kernels-${build}.wasm`, import.meta.url);

/** V8 before 12 (Node 20) computes the relaxed dot product wrongly in code that it has not optimised yet. */
const trusted = (build: Build): boolean =>
  build !== 'dot' || Number.parseInt(process.versions.v8 ?? '0', 10) >= 12;

let builds: Builds | undefined;

export function loadBuilds(): Builds {
  builds ??= Object.fromEntries(
    BUILDS.filter(trusted)
      .map((build) => [build, readFileSync(buildFile(build))] as const)
      .filter(([, binary]) => WebAssembly.validate(binary))
      .map(([build, binary]) => [build, new WebAssembly.Module(binary)]),
  );
  return builds;
}
