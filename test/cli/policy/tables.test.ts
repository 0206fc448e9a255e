/** The table of policies, as a person at a terminal reads it. */
import { expect, test } from 'vitest';
import { heading, versionColumns, versionRows } from '../../../cli/policy/tables.ts';

test('columns stand under their titles, however long the name of a policy is', () => {
  const policy = (name: string) => ({
    ...{ name, current: 0, next: 1, updatedAt: 0 },
    versions: [
      {
        ...{ version: 0, parent: null, round: null, bytes: 775_700 },
        ...{
          manifestSha256: 'a'.repeat(64),
          weightsSha256: 'b'.repeat(64),
          createdAt: 0,
          withdrawn: null,
          prunedAt: null,
        },
      },
    ],
  });
  const policies = [policy('short'), policy('arithmetic-base-kernels-tasks64-group8-seed11')];
  const columns = versionColumns(policies.map(({ name }) => name));
  const lines = policies.flatMap((one) => versionRows(one, columns));
  const title = heading(columns);
  for (const line of lines) {
    expect(line.indexOf('775.7 kB') + '775.7 kB'.length).toBe(title.indexOf('size') + 'size'.length);
    expect(line.indexOf('1970-01-01')).toBe(title.indexOf('made'));
    expect(line.indexOf('bbbbbbbbbbbb')).toBe(title.indexOf('weights'));
  }
});
