/** What the gateway's reading API answers, by path. */
import { deriveId } from '../../../core/random.ts';
import { BEGAN, HOSTILE } from './drawn.ts';
import { groupOf, groupsOf, sampleOf } from './groups.ts';
import { nodes, shares } from './nodes.ts';
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

const refused = {
  outcome: 'duplicate',
  meaning: 'it repeats a task of its round',
  group: null,
  turns: [
    { ...sampleOf(HOSTILE, deriveId('refused', 1), 3).sample, role: 'proposer', rewards: { reward: -0.5 } },
  ],
};

const recipe = {
  name: 'trio',
  title: 'A title',
  summary: `What it is. ${HOSTILE}`,
  paper: { title: 'A paper', year: 2026, source: null },
  taskName: 'arithmetic',
  roles: [{ role: 'solver', description: HOSTILE, set: 'main' }],
  rewards: {},
  variants: {},
  figures: {},
  cells: {},
};

/** Null where there is nothing. */
export function answer(runs: readonly Run[], url: URL): object | null {
  const parts = url.pathname.split('/').slice(2);
  const [kind, id, sub, group] = parts;
  if (kind === 'runs') return { runs: runs.map((run) => run.view()) };
  if (kind === 'nodes') return { nodes };
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
    if (url.searchParams.get('open') === 'true')
      return { rounds: runs.flatMap((run) => (run.done < run.target ? run.rounds(1) : [])) };
    const run = runs.find((candidate) => candidate.id === url.searchParams.get('run'));
    const before = url.searchParams.get('before');
    const limit = Number(url.searchParams.get('limit') ?? 50);
    return { rounds: run?.rounds(limit, before === null ? undefined : Number(before)) ?? [] };
  }
  if (kind === 'rounds' && id && sub === 'shares') return { shares };
  if (kind === 'rounds' && id && sub === 'groups')
    return group === undefined ? { groups: groupsOf(id) } : groupOf(id, group);
  if (kind === 'rounds' && id && sub === 'contents') {
    const from = Number(url.searchParams.get('from') ?? 0);
    const to = from + Number(url.searchParams.get('limit') ?? 32);
    const all = groupsOf(id);
    return {
      groups: all.slice(from, to).map((of) => groupOf(id, of.group)),
      next: to < all.length ? to : null,
    };
  }
  if (kind === 'rounds' && id && sub === 'proposals') return { proposals: [refused] };
  if (kind === 'recipes' && id === 'trio') return recipe;
  return null;
}
