/** What is installed: the lists in docs/dependencies.md and CONTRIBUTING.md are complete, versions are exact, and no package's install script runs. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packedManifest } from '../../.ci/pack-manifest.mjs';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}
interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
}

const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
);
const locked = Object.entries(lock.packages).filter(([path]) => path !== '');
const direct = {
  ...manifest.dependencies,
  ...manifest.devDependencies,
};

test.each([
  ['docs/dependencies.md', manifest.dependencies],
  ['CONTRIBUTING.md', manifest.devDependencies],
])('%s names each of its direct dependencies once', (file, packages) => {
  const rows = readFileSync(file, 'utf8').matchAll(/^\| `([^`]+)` \| .+ \|$/gm);
  expect([...rows].map(([, name]) => name)).toEqual(Object.keys(packages));
});

test('versions are exact, and the lock holds the same', () => {
  for (const [name, version] of Object.entries(direct)) {
    expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
    expect([name, lock.packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
  }
});

/** Whoever installs it is told by the same command everywhere. `.ci/guest` runs it and measures what it installs. */
test('what a GPU needs besides is named with the version that the clone has', () => {
  const { webgpu } = manifest.dependencies;
  expect(packedManifest(manifest).peerDependencies).toMatchObject({ webgpu });
  for (const file of ['docs/dependencies.md', 'learner/device/webgpu/adapter.ts']) {
    const told = [...readFileSync(file, 'utf8').matchAll(/webgpu@([\d.]*\d)/g)].map(([, version]) => version);
    expect([file, new Set(told)]).toEqual([file, new Set([webgpu])]);
  }
});

test('a clone leaves nothing out that an old npm or Node may skip, and the package has the rest of its dependencies alike', () => {
  expect(Object.keys(manifest).filter((key) => /optional|peer/i.test(key))).toEqual([]);
  const packed = packedManifest(manifest);
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packed;
  const all = { ...dependencies, ...optionalDependencies, ...peerDependencies };
  const { cloudflare, 'onnxruntime-web': bundled, ...others } = manifest.dependencies;
  expect([cloudflare, bundled]).not.toContain(undefined);
  // The native build is of the same release, and npm installs no peer that is optional.
  const starts = JSON.parse(readFileSync('models/package.json', 'utf8')).version;
  expect(all).toEqual({
    ...others,
    'onnxruntime-node': bundled,
    pyodide: manifest.devDependencies.pyodide,
    'rollmesh-onnxruntime': bundled,
    'rollmesh-starts': starts,
  });
  const part = JSON.parse(readFileSync('infer/onnxruntime/package.json', 'utf8'));
  expect([part.version, part.dependencies]).toEqual([bundled, { 'onnxruntime-common': bundled }]);
  const optional = { optional: true };
  expect(peerDependenciesMeta).toEqual({
    webgpu: optional,
    'onnxruntime-node': optional,
    pyodide: optional,
  });
  expect(Object.keys(optionalDependencies).sort()).toEqual([
    '@modelcontextprotocol/server',
    '@valibot/to-json-schema',
    'c12',
    'drizzle-orm',
    'hono',
    'miniflare',
    'rollmesh-starts',
    'wrangler',
  ]);
});

test('the package has the built program, and a clone none that could hide the link to its sources', () => {
  expect(manifest).not.toHaveProperty('bin');
  expect(packedManifest(manifest).bin).toEqual({ rollmesh: 'dist/cli/rollmesh.js' });
});

test('each export of a clone is a source, that of the package what was built of it; the types of a clone come from the same sources', () => {
  const { paths } = JSON.parse(readFileSync('tsconfig.base.json', 'utf8')).compilerOptions as {
    paths: Readonly<Record<string, readonly string[]>>;
  };
  const built = (source: string, ending: string) => source.replace('./', './dist/').replace(/\.ts$/, ending);
  const packed = packedManifest(manifest) as Manifest;
  expect(packed).not.toHaveProperty('workspaces');
  for (const [path, to] of Object.entries(manifest.exports)) {
    if (typeof to === 'string') continue;
    const source = to['rollmesh-source']!;
    expect([path, existsSync(source)]).toEqual([path, true]);
    const { default: code, types, ...others } = packed.exports[path] as Readonly<Record<string, string>>;
    expect([path, code, others]).toEqual([path, built(source, '.js'), {}]);
    // A command has no types.
    if (types === undefined) continue;
    expect([path, types]).toEqual([path, built(source, '.d.ts')]);
    expect([path, paths[path.replace('.', 'rollmesh')]]).toEqual([path, [source]]);
  }
});

test('every package is locked by its hash and comes from the registry', () => {
  // The workspaces of the checkout, and the links to them, are no packages of the registry.
  const isLoose = ({ integrity, resolved }: Locked) =>
    !integrity?.startsWith('sha512-') || (resolved && !resolved.startsWith('https://registry.npmjs.org/'));
  const loose = locked.filter(
    ([path, entry]) => path.startsWith('node_modules/') && !entry.link && isLoose(entry),
  );
  expect(loose.map(([path]) => path)).toEqual([]);
});

/** Else `npm ci --omit=dev` fails, where the script needs what is left out. */
test('what npm runs by itself in a clone needs no package', () => {
  const byItself = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'postprepare'];
  expect(byItself.filter((step) => step in manifest.scripts)).toEqual([]);
  expect(manifest.scripts.prepare).toBe('node cli/install/node.mjs');
  const imports = (file: string): string[] =>
    [...readFileSync(file, 'utf8').matchAll(/^import .* from '([^']+)';$/gm)].map(([, from]) => from!);
  const found = [...imports('cli/install/node.mjs'), ...imports('cli/install/node-version.mjs')];
  expect(found.length).toBeGreaterThan(4);
  expect(found.filter((from) => !/^node:|^\.\//.test(from))).toEqual([]);
});

/** Where npm 10 sees the mark it runs the script. */
test('the lock marks no package as one with an install script', () => {
  expect(locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([]);
});

test('each installed package that brings an install script is one that npm 11 is told not to run', () => {
  const withScripts = locked.flatMap(([path]) => {
    const file = join(path, 'package.json');
    if (!existsSync(file)) return [];
    const { name, scripts = {} }: { name: string; scripts?: Record<string, string> } = JSON.parse(
      readFileSync(file, 'utf8'),
    );
    const brings = ['preinstall', 'install', 'postinstall'].some((step) => scripts[step]);
    return brings || readdirSync(path).includes('binding.gyp') ? [name] : [];
  });
  expect(withScripts.length).toBeGreaterThan(0);
  expect(manifest.allowScripts).toEqual(Object.fromEntries(withScripts.map((name) => [name, false])));
});
