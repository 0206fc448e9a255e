/** Turns of episodes as records, for tests of what a recipe makes of rewards. */
import { deriveId } from '../../core/random.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';

/** An episode of `count` turns by a role, all with the same reward; its first token is `token`. */
export function turnsOf(
  episode: string,
  role: string,
  count: number,
  reward: number | null,
  { outcome = 'ok', token = 1 }: { readonly outcome?: Sample['outcome']; readonly token?: number } = {},
): Sample[] {
  const id = (turn: number) => deriveId(episode, turn);
  return Array.from({ length: count }, (_, turn) => ({
    id: id(turn),
    role,
    policy: { name: 'p', version: 0 },
    prompt: [7],
    ids: [token, 2],
    logprobs: [-1, -1],
    stopped: true,
    outcome: turn === count - 1 ? outcome : 'ok',
    rewards: { reward },
    turn,
    ...(turn > 0 ? { of: id(0) } : {}),
  }));
}

export const groupOf = (
  group: string,
  index: number,
  task: string,
  samples: readonly Sample[],
  proposal: string | null = null,
): ScoredGroup => ({
  round: deriveId('round'),
  group,
  index,
  task,
  proposal,
  samples: [...samples],
  judgments: [],
  answersExact: samples.map(() => null),
  solutionsExact: samples.map(() => null),
});
