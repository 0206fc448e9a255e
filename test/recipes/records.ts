/** Rounds as `learn` gets them, written by hand: solutions and verdicts as texts, with their rewards. */
import { expect } from 'vitest';
import type { RoundRecords } from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';

export const tokenizer = openTokenizer(characterTokenizer().json);
const policy = { name: 'p', version: 2 };
let made = 0;

const sampleOf = (role: string, text: string, rewards: Sample['rewards']): Sample => {
  const ids = tokenizer.encode(text);
  return {
    id: deriveId('sample', made++),
    role,
    policy,
    prompt: [],
    ids,
    logprobs: ids.map(() => -1),
    stopped: true,
    outcome: 'ok',
    rewards,
  };
};

export const solved = (text: string, reward: number): Sample => sampleOf('solver', text, { reward });

export const verdict = (
  of: Sample,
  text: string,
  agreement: number,
  outcome: Sample['outcome'] = 'ok',
): Sample => ({
  ...sampleOf('judge', text, { agreement }),
  of: of.id,
  outcome,
});

export function recordsOf(
  recipe: string,
  groups: readonly Partial<ScoredGroup>[],
  {
    index = 1,
    recipeState,
    ...settings
  }: {
    index?: number;
    recipeState?: unknown;
    variant?: string;
    freeze?: string[];
    rewardFunction?: string;
  } = {},
): RoundRecords {
  const id = deriveId('round', recipe);
  return {
    round: {
      id,
      run: id,
      index,
      settings: {
        recipe,
        seed: 0,
        policy: 'p',
        rewardFunction: 'exact',
        freeze: [],
        tasks: groups.length,
        groupSize: 2,
        ...settings,
      },
      roles: { solver: policy },
    },
    proposals: { round: id, samples: [], tasks: [] },
    groups: groups.map((group, i) => ({
      round: id,
      group: deriveId('group', i),
      index: i,
      task: '1+2',
      proposal: null,
      samples: [],
      judgments: [],
      answersExact: (group.samples ?? []).map(({ rewards }) => rewards.reward === 1),
      solutionsExact: (group.samples ?? []).map(({ rewards }) => rewards.reward === 1),
      ...group,
    })),
    recipeState,
    version: 2,
  };
}

/** Rows of numbers, to so many digits. */
export function expectRows(
  actual: readonly (readonly number[])[],
  wanted: readonly (readonly number[])[],
  digits = 4,
): void {
  expect(actual.map((row) => row.length)).toEqual(wanted.map((row) => row.length));
  for (const [i, row] of actual.entries())
    for (const [t, value] of row.entries()) expect(value).toBeCloseTo(wanted[i]![t]!, digits);
}
