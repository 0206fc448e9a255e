/** What git says of the registrations that records name. It needs the whole history, which a shallow clone and a package lack. */

import { execFileSync } from 'node:child_process';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { claimed } from '../../claims/index.ts';
import { judgedRecords } from '../../cli/files.ts';
import { digestOf, registration as schema } from '../../rule/registration.ts';

function git(args: readonly string[], input = ''): Buffer {
  return execFileSync('git', args, { input, maxBuffer: 2 ** 28, stdio: ['pipe', 'pipe', 'ignore'] });
}

/** The working directory is the lab of a clone with its whole history. */
function hasHistory(): boolean {
  try {
    const said = git(['rev-parse', '--is-shallow-repository', '--show-prefix']).toString();
    return said === 'false\nlab/\n';
  } catch {
    return false;
  }
}

/** The objects of these names in one call; undefined for what git lacks. */
function objects(names: readonly string[]): (string | undefined)[] {
  const said = git(['cat-file', '--batch'], names.map((name) => `${name}\n`).join(''));
  let at = 0;
  return names.map(() => {
    const end = said.indexOf('\n', at);
    const [, type, size] = said.toString('utf8', at, end).split(' ');
    at = end + 1;
    if (type !== 'blob' && type !== 'commit') return undefined;
    const text = said.toString('utf8', at, at + Number(size));
    at += Number(size) + 1;
    return text;
  });
}

/** The full names of commits; undefined for those that git lacks. */
function commits(names: readonly string[]): (string | undefined)[] {
  const said = git(['cat-file', '--batch-check'], names.map((name) => `${name}^{commit}\n`).join(''));
  return said
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => (line.endsWith(' missing') ? undefined : line.split(' ')[0]));
}

const records = (await judgedRecords(claimed)).flatMap(({ recipe, machine, registration }) =>
  registration ? [{ recipe, played: machine.commit.split('+')[0]!, ...registration }] : [],
);
const registered = hasHistory() ? commits(records.map(({ commit }) => commit)) : [];

describe.skipIf(!registered.some(Boolean))('in git', () => {
  test('the registration of every record is in the commit that the record names', () => {
    // The folder was another one before the lab was a package.
    const [files, older] = ['lab/records/registered', 'claims/registered'].map((folder) =>
      objects(records.map(({ commit, recipe }) => `${commit}:${folder}/${recipe}.json`)),
    ) as [ReturnType<typeof objects>, ReturnType<typeof objects>];
    records.forEach(({ recipe, digest }, i) => {
      expect(registered[i], `the commit of ${recipe}`).toBeDefined();
      const found = v.parse(schema, JSON.parse(files[i] ?? older[i] ?? 'null'));
      expect(digestOf(found), recipe).toBe(digest);
    });
  });

  test('a run was played on a commit that has its registration', () => {
    const played = commits(records.map((record) => record.played));
    const known = new Set(played.flatMap((commit) => commit ?? []));
    const history = git(['rev-list', '--parents', 'HEAD', ...known])
      .toString()
      .trimEnd()
      .split('\n');
    const parents = new Map(
      history.map((line) => {
        const [commit, ...before] = line.split(' ');
        return [commit!, before];
      }),
    );
    /** A commit and all before it. */
    const upTo = (commit: string) => {
      const found = new Set([commit]);
      for (const one of found) for (const parent of parents.get(one) ?? []) found.add(parent);
      return found;
    };
    records.forEach(({ recipe }, i) => {
      if (played[i]) expect(upTo(played[i]).has(registered[i]!), recipe).toBe(true);
    });
  });
});
