/** What the gateway's reading API answers, by path. */
import { deriveId } from '../../../core/random.ts';
import { BEGAN, HOSTILE } from './drawn.ts';
import { groupOf, groupsOf } from './groups.ts';
import type { Run } from './run.ts';

const deadLetters = [
  {
    id: deriveId('letter', 1),
    queue: 'judge',
    attempts: 6,
    kind: 'give-up',
    code: 'object.damaged',
    cause: `The object rounds/1/rollouts.json cannot be read. ${HOSTILE}`,
    round: deriveId('round', 9),
    group: deriveId('group', 9),
    at: BEGAN + 30_000,
    replayedAt: null,
  },
];

/** Null where there is nothing. */
export function answer(runs: readonly Run[], url: URL): object | null {
  const parts = url.pathname.split('/').slice(2);
  const [kind, id, sub, group] = parts;
  if (kind === 'runs') return { runs: runs.map((run) => run.view()) };
  if (kind === 'dead-letters') return { deadLetters };
  const [first] = runs;
  if (kind === 'policies' && id && first) {
    const versions = Array.from({ length: first.done + 1 }, (_, i) => first.done - i).map((version) => ({
      policy: id,
      version,
      parent: version ? version - 1 : null,
      round: null,
      bytes: 1_560_000,
      createdAt: BEGAN + 2400 * version,
      withdrawn: version === 3 ? `Rolled back: ${HOSTILE}` : null,
    }));
    return {
      name: id,
      current: first.done,
      updatedAt: BEGAN,
      next: first.done + 1,
      versions: versions.slice(0, 200),
    };
  }
  if (kind === 'rounds' && id === undefined) {
    const run = runs.find((candidate) => candidate.id === url.searchParams.get('run'));
    const before = url.searchParams.get('before');
    const limit = Number(url.searchParams.get('limit') ?? 50);
    return { rounds: run?.rounds(limit, before === null ? undefined : Number(before)) ?? [] };
  }
  if (kind === 'rounds' && id && sub === 'groups')
    return group === undefined ? { groups: groupsOf(id) } : groupOf(id, group);
  return null;
}
