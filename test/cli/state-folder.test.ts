/** Whose eyes the local state is for, and what is said of a folder that cannot be used. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openStateFolder } from '../../cli/shared/state-folder.ts';
import { ensureSecrets } from '../../local/mesh/secrets.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-folder-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('nobody else can look into', () => {
  test('a new state folder, or one that was made readable', () => {
    const folder = openStateFolder(join(root, 'new'), false);
    expect(modeOf(folder)).toBe('700');
    chmodSync(folder, 0o755);
    openStateFolder(folder, false);
    expect(modeOf(folder)).toBe('700');
  });

  test('a .dev.vars that was there, readable, before the secrets were added', () => {
    const project = join(root, 'project');
    mkdirSync(project);
    const path = join(project, '.dev.vars');
    writeFileSync(path, 'READ_TOKEN=0123456789abcdef\n', { mode: 0o644 });
    expect(ensureSecrets(project)).toMatchObject({ READ_TOKEN: '0123456789abcdef' });
    expect(modeOf(path)).toBe('600');
    // Whole already, and opened to all by hand.
    chmodSync(path, 0o644);
    ensureSecrets(project);
    expect(modeOf(path)).toBe('600');
  });
});

describe('state.folder', () => {
  const refusal = (path: string) => {
    try {
      openStateFolder(path, false);
    } catch (error) {
      return error;
    }
    return undefined;
  };

  test('a file', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    expect(refusal(file)).toMatchObject({ code: 'state.folder', what: `${file} is not a folder.` });
    // A file on the way to it.
    expect(refusal(join(file, 'below'))).toMatchObject({
      code: 'state.folder',
      what: `The state folder ${join(file, 'below')} cannot be written: ENOTDIR.`,
      next: 'Choose another with --state DIR.',
    });
  });

  test('of something else', () => {
    const other = join(root, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'thesis.tex'), '');
    expect(refusal(other)).toMatchObject({ code: 'state.folder' });
  });
});
