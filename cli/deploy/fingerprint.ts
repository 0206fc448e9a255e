/**
 * Computes a tag of what would be deployed: the same sources, files and configuration give the same tag on any machine.
 * Deployed versions carry it, so that a second deployment can tell that nothing changed.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorker } from '../../local/mesh/bundle.ts';
import { installed } from '../../local/mesh/installation.ts';
import { readMeshConfig } from '../../local/mesh/mesh-config.ts';
import type { Environment } from './mesh-parts.ts';

/** Digits of the hash in the tag: with its prefix it stays below 25 characters, which every version of the platform accepted. */
const DIGITS = 16;

/** @param parts the contents by name, in any order */
export function tagOf(parts: Readonly<Record<string, string | Uint8Array>>): string {
  const hash = createHash('sha256');
  for (const name of Object.keys(parts).sort()) {
    const content = Buffer.from(parts[name]!);
    hash.update(`${name.length}:${name}${content.length}:`).update(content);
  }
  return `rm-${hash.digest('hex').slice(0, DIGITS)}`;
}

/** @param config the text of the configuration that is deployed */
export async function workerTag(
  root: string,
  environment: Environment,
  main: string,
  config: string,
): Promise<string> {
  const { modules } = await bundleWorker(main);
  const parts: Record<string, string | Uint8Array> = { config };
  for (const { path, contents } of modules) parts[`module ${path.slice(root.length)}`] = contents;
  if (environment === 'gateway') {
    const { workers } = await readMeshConfig(root);
    const folder = workers.gateway.assets?.directory ?? installed('web/dashboard');
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (file.isFile()) {
        const path = join(file.parentPath, file.name);
        parts[`asset ${path.slice(folder.length)}`] = readFileSync(path);
      }
  }
  return tagOf(parts);
}
