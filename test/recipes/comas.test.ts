import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { zeroSum } from '../../recipes/comas/recipe.ts';
import { debatingWords } from '../../worlds/arithmetic/debating.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

const solution = (score: number | null) => ({ score, reviews: false });
const critique = { score: null, reviews: true };

test('a critique is paid what its solution is not, and a score that nobody could read pays neither', () => {
  const said = [[solution(1)], [critique], [solution(0.5)], [critique], [solution(null)], [critique]];
  expect(zeroSum(said)).toEqual([[1], [0], [0.5], [0.5], [null], [null]]);
});

test('on sums a scorer says by its own solution whether the answer or the critique is right', () => {
  const about = { task: '3+4', response: '<step>7<answer>7', review: '<step>8<answer>8' };
  const said = (answer: number) =>
    debatingWords.score.read(`<step>${answer}<answer>${answer}<eos>`, about, undefined as never);
  expect([7, 8, 9].map(said)).toEqual([1, 0, 0.5].map((value) => ({ ok: true, value })));
  expect(debatingWords.score.read('x<eos>', about, undefined as never)).toMatchObject({ ok: false });
});

const given = { sources: [{ weight: 1, tasks: [sayTask('Say one', 'one', 1)] }] };
/** Scores: 3 of the first solution, and no score of the second. */
const discussed = (
  more: { variant?: string; reward?: string; groupSize?: number; atStart?: number } = {},
) => {
  const prompts: string[] = [];
  const says = (role: string, prompt: string): readonly string[] => {
    prompts.push(`${role}: ${prompt}`);
    if (role.endsWith('scorer')) return [prompt.includes('answer:\none\n') ? '<answer>3</answer>' : 'hm'];
    if (role.endsWith('critic')) return ['It is not said.'];
    return [prompt.includes('said so far') ? 'six' : 'one'];
  };
  return play({ recipe: 'comas', tasks: 1, groupSize: 1, given, says, ...more }).then((played) => ({
    ...played,
    prompts,
  }));
};

test('a round: solution, critique and score, twice, each agent trained on all that it wrote', async () => {
  const { groups, plan, read, prompts } = await discussed();
  const [{ samples, judgments, answersExact }] = groups as [(typeof groups)[0]];
  expect(samples.map(read)).toEqual(['one', 'It is not said.', 'six', 'It is not said.']);
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, null, null]);
  expect(answersExact).toEqual([true, null, false, null]);
  expect(judgments.map(({ of, outcome, rewards }) => [of, outcome, rewards.reward]).sort()).toEqual(
    [
      [samples[0]!.id, 'ok', 0],
      [samples[2]!.id, 'off-grammar', -1],
    ].sort(),
  );
  // A solver and his critic have different weights.
  const partners = samples.map(({ role }) => role.startsWith('partner'));
  expect([partners[0] !== partners[1], partners[2] !== partners[3]]).toEqual([true, true]);
  expect(prompts.find((prompt) => prompt.includes('said so far'))).toContain(
    'What a critic said of the answer above:\nIt is not said.',
  );
  const trained = plan.updates.flatMap(({ set, parts }) =>
    parts.flatMap((part) => (part as PolicyPart).items.map(({ sample }) => ({ set, sample }))),
  );
  // What nobody could score is trained by neither; the score that could not be read is.
  expect(trained).toHaveLength(4);
  for (const { set, sample } of trained) expect(set === 'partner').toBe(sample.role.startsWith('partner'));
  expect(plan.figures).toEqual({ solutionReward: 1, readable: 1 / 2 });
});

test('each token costs a hundredth of its divergence from the start, which those before it are credited with, too', async () => {
  // Of every token ln p − ln p₀ = −1 + 2.
  const { plan } = await discussed({ reward: 'gold', groupSize: 8, atStart: -2 });
  expect(plan.updates.map(({ set }) => set)).toEqual(['main', 'partner']);
  for (const { parts } of plan.updates) {
    const items = parts
      .flatMap((part) => (part as PolicyPart).items)
      .map(({ sample, advantage }) => ({
        reward: sample.rewards.reward,
        advantages: advantage as readonly number[],
      }));
    const last = (reward: number) => items.find((item) => item.reward === reward)!.advantages.at(-1)!;
    // Between the last tokens of a right and of a wrong text lies the whole reward of 1.
    const step = (last(1) - last(0)) / 100;
    for (const { advantages } of items)
      for (const [t, value] of advantages.entries())
        if (t > 0) expect(value - advantages[t - 1]!).toBeCloseTo(step, 4);
    expect(step).toBeGreaterThan(0.01);
  }
});

test('variants and controls: no critique, the critic scores, the checker pays', async () => {
  const none = await discussed({ variant: 'no-critique' });
  expect(none.groups[0]!.samples.map(none.read)).toEqual(['one', 'six']);
  const own = await discussed({ variant: 'critic-scores', groupSize: 8 });
  const [{ samples, judgments }] = own.groups as [(typeof own.groups)[0]];
  for (const { of, role } of judgments) {
    const at = samples.findIndex(({ id }) => id === of);
    expect(role.replace('scorer', 'critic')).toBe(samples[at + 1]!.role);
  }
  const gold = await discussed({ reward: 'gold' });
  expect(gold.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0, 0, 1]);
  expect(gold.groups[0]!.judgments).toEqual([]);
});
