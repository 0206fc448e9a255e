/** What an audit says of what it did not ask for a second time. */
import { expect, test } from 'vitest';
import { roundId } from '../../cli/audit/audit.ts';
import type { AuditReport } from '../../cli/audit/audit-mesh.ts';
import { auditLines } from '../../cli/audit/audit-table.ts';

const report: AuditReport = {
  ...{ kind: 'audit', round: '0'.repeat(32), index: 3, recipe: 'grpo', fraction: 1, groups: 1, proposals: 0 },
  ...{ sealChecked: true, services: [], agents: true, close: null, classes: [], findings: [], wallMs: 1 },
};

test('an audit of episodes that agents held says that neither they nor an environment was asked again', () => {
  const line =
    'Prompts and rewards of episodes are taken as recorded: no agent and no environment was asked again.';
  expect(auditLines(report)).toContain(line);
  expect(auditLines({ ...report, agents: false })).not.toContain(line);
});

test('where no round is done, the last one is not asked for by a name that is none', async () => {
  const [done, open] = ['done', 'training'].map((state) => ({ id: state, state }));
  const mesh = (...rounds: unknown[]) => ({ newestRounds: async () => rounds as never });
  expect(await roundId(mesh(open, done), 'last')).toBe('done');
  for (const rounds of [[], [open]])
    await expect(roundId(mesh(...rounds), 'last')).rejects.toMatchObject({
      code: 'audit.round',
      what: 'No round is done yet.',
    });
  await expect(roundId(mesh(done), 'lats')).rejects.toMatchObject({ what: 'There is no round "lats".' });
});
