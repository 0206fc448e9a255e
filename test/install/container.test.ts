/**
 * The images of a node and of a service install the packages, not the clone, on a Node that plays them, and have no rights. That the entry points do
 * what they should is shown by `.ci/guest` (`.ci/image.mjs`).
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { packedManifest } from '../../.ci/pack-manifest.mjs';
import { stagesOf } from '../../.ci/stages.mjs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const stages = stagesOf(readFileSync('Dockerfile', 'utf8'));
const program = packedManifest(manifest).bin.rollmesh;

/** What a stage has of an instruction, in its order. */
const of = (stage: string, instruction: string): string[] =>
  stages[stage]!.flatMap(([name, rest]) => (name === instruction ? [rest] : []));

test.each(['server', 'node'])(
  'the image of a %s has what the packages install, as a user without rights',
  (stage) => {
    const steps = stages[stage]!;
    expect(of(stage, 'COPY').every((rest) => rest.startsWith('--from=packed /packages '))).toBe(true);
    const [install, ...others] = of(stage, 'RUN');
    expect(others).toEqual([]);
    expect(install).toMatch(
      /^npm install (?:--omit=optional )?--no-audit --no-fund \/packages\/\*\.tgz && rm -r \/packages/,
    );
    // Whatever is run later is run without rights.
    expect(of(stage, 'USER')).toEqual(['node']);
    const names = steps.map(([name]) => name);
    expect(names.indexOf('USER')).toBeGreaterThan(names.indexOf('RUN'));
    const [, least] = />=(\d+)/.exec(manifest.engines.node)!;
    const [, node] = /^node:(\d+)-slim\b/.exec(of(stage, 'FROM')[0]!)!;
    expect(Number(node)).toBeGreaterThanOrEqual(Number(least));
  },
);

test('the image that is built without a word is that of a node', () => {
  expect(Object.keys(stages).at(-1)).toBe('node');
  expect(JSON.parse(of('node', 'ENTRYPOINT')[0]!)).toEqual([
    'node',
    `node_modules/rollmesh/${program}`,
    'node',
  ]);
  // A node has no mesh, and so nothing of what is optional.
  expect(of('node', 'RUN')[0]).toContain('--omit=optional');
});

test('a service keeps all it has in one folder, the owner’s alone, and is asked for its health where it listens', () => {
  const [root, folder] = of('server', 'WORKDIR');
  expect(of('server', 'VOLUME')).toEqual([folder]);
  expect(of('server', 'RUN')[0]).toContain(
    `mkdir ${folder} && chown node:node ${folder} && chmod 700 ${folder}`,
  );
  // The state, so that no folder of the image is one, below the folder whose .dev.vars has the secrets.
  expect(JSON.parse(of('server', 'ENTRYPOINT')[0]!)).toEqual(['rollmesh', 'serve', '--state', 'state']);
  expect(of('server', 'ENV')).toEqual([`PATH=${root}/node_modules/.bin:$PATH`]);
  const [port] = of('server', 'EXPOSE');
  expect(readFileSync('cli/serve/command.ts', 'utf8')).toContain(`port, ${port})`);
  expect(readFileSync('examples/server/Caddyfile', 'utf8')).toContain(`127.0.0.1:${port}`);
  expect(of('server', 'HEALTHCHECK')[0]).toContain(`http://127.0.0.1:${port}/healthz`);
  // Everybody's start policies are there.
  expect(of('server', 'COPY')).toEqual(['--from=packed /packages /starts /packages/']);
});

test('secrets and state of whoever builds the image stay out of what packs it', () => {
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
  expect(ignored).toEqual(expect.arrayContaining(['.git', '.rollmesh', '.deploy', '.dev.vars']));
});
