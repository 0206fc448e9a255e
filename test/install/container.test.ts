/** The image of a node installs the packages, not the clone, on a Node that plays them. That its entry point asks a mesh for work is shown by `.ci/guest` (`.ci/image.mjs`). */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { packedManifest } from '../../.ci/pack-manifest.mjs';

const steps = readFileSync('Dockerfile', 'utf8')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'))
  .map((line) => line.split(/ (.*)/s) as [string, string]);
const image = steps.slice(steps.findLastIndex(([name]) => name === 'FROM'));
const of = (instruction: string): string[] =>
  image.flatMap(([name, rest]) => (name === instruction ? [rest] : []));

test('the image has what the packages install, as a user without rights', () => {
  expect(image.map(([name]) => name)).toEqual(['FROM', 'WORKDIR', 'COPY', 'RUN', 'USER', 'ENTRYPOINT']);
  expect(of('COPY')).toEqual(['--from=packed /packages /packages']);
  expect(of('RUN')).toEqual([
    'npm install --omit=optional --no-audit --no-fund /packages/*.tgz && rm -r /packages',
  ]);
  expect(of('USER')).toEqual(['node']);
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const [, least] = />=(\d+)/.exec(manifest.engines.node)!;
  const [, node] = /^node:(\d+)-slim$/.exec(of('FROM')[0]!)!;
  expect(Number(node)).toBeGreaterThanOrEqual(Number(least));
  expect(JSON.parse(of('ENTRYPOINT')[0]!)).toEqual([
    'node',
    `node_modules/rollmesh/${packedManifest(manifest).bin.rollmesh}`,
    'node',
  ]);
});

test('secrets and state of whoever builds the image stay out of what packs it', () => {
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
  expect(ignored).toEqual(expect.arrayContaining(['.git', '.rollmesh', '.deploy', '.dev.vars']));
});
