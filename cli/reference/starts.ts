/** Writes the table of hashes by which a start policy is recognised: those of `models/` as they are. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../../core/random.ts';

const MODELS = 'models';

/** Contents of local/start-hashes.ts. */
export function startHashes(): string {
  const manifestOf = (name: string) => join(MODELS, name, 'manifest.json');
  const lines = readdirSync(MODELS)
    .filter((name) => existsSync(manifestOf(name)))
    .sort()
    .map((name) => {
      const key = /^[a-z]+$/.test(name) ? name : `'${name}'`;
      return `  ${key}: '${sha256Hex(readFileSync(manifestOf(name)))}',\n`;
    });
  return `/** The sha256 of the manifest of each start policy, which holds those of its files. Written by \`npm run reference\`. */
export const START_HASHES: Readonly<Record<string, string>> = {
${lines.join('')}};
`;
}
