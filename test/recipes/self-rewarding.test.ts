/** Self-rewarding by hand: which pairs scores make, and a round in which the policy compares its own answers. */
import { expect, test } from 'vitest';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { pairsOf } from '../../recipes/self-rewarding/best-and-worst.ts';
import { selfRewarding } from '../../recipes/self-rewarding/recipe.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { scriptedPolicy, textTokenizer } from '../protocols/scripted-policy.ts';

const group = (rewards: readonly (number | null)[]): ScoredGroup => ({
  round: '0'.repeat(32),
  group: '1'.repeat(32),
  index: 0,
  task: '3+4-9',
  proposal: null,
  judgments: [],
  answersExact: rewards.map(() => null),
  solutionsExact: rewards.map(() => null),
  samples: rewards.map((reward, i) => ({
    id: String(i).repeat(32),
    role: 'responder',
    policy: { name: 'p', version: 0 },
    prompt: [9],
    ids: [i],
    logprobs: [0],
    stopped: true,
    outcome: 'ok',
    rewards: { reward },
  })),
});
const seq = (i: number) => ({ prompt: [9], ids: [i] });

test('best against worst by score; ties and unscored responses make no pair', () => {
  expect(
    pairsOf([group([0.3, 0.8, 0.2, null]), group([0.5, 0.5, 0.5]), group([null, 1, null]), group([0, 1])]),
  ).toEqual([
    { chosen: seq(1), rejected: seq(2) },
    { chosen: seq(1), rejected: seq(0) },
  ]);
});

const settings = {
  recipe: 'self-rewarding',
  seed: 0,
  policy: 'p',
  rewardFunction: 'judge',
  freeze: [],
  tasks: 2,
  groupSize: 4,
};
const tokenizer = textTokenizer();

/** A round of two tasks by a policy that answers 5, 7 and 5 again, and no answer at all, and compares as `verdict` says. */
async function roundWith(verdict: (shown: string) => string, rewardFunction = 'judge') {
  const responses = ['<answer>5<eos>', '<answer>7<eos>', '<answer>5<eos>', '5<eos>'];
  const policy = scriptedPolicy(tokenizer, (prompt, _id, i) => {
    if (prompt.startsWith('<solve>')) return responses[i]!;
    const [, first, second] = prompt.split('<sep>');
    return `<answer>${verdict(`${first} ${second}`)}<eos>`;
  });
  const round = roundOf({ ...settings, rewardFunction }, { responder: {}, judge: {} }, 1, 3);
  const context = openRoundContext({
    recipe: selfRewarding,
    round,
    tokenizer,
    recipeState: () => Promise.resolve(undefined),
    use: (_ref, work) => work(policy),
  });
  const proposals = await selfRewarding.propose(context);
  const groups = await selfRewarding.judge(context, await selfRewarding.rollOut(context, proposals.tasks));
  const tools = { decode: (ids) => tokenizer.decode(ids) } as LearnTools;
  const plan = await selfRewarding.learn(
    { round, proposals, groups, recipeState: undefined, version: 3 },
    tools,
  );
  return { groups, plan };
}

test('a round: two comparisons of two answers, the share won is the worth of every response that gave the answer', async () => {
  // 7 wins shown second, and wins shown first: it wins both, 5 none.
  const { groups, plan } = await roundWith((shown) => (shown === '5A 7B' ? 'B' : 'A'));
  expect(groups).toHaveLength(2);
  for (const { task, samples, judgments, answersExact, solutionsExact } of groups) {
    // The oracle's word on 5, 7, 5 and no answer stands beside the rewards, for the monitors.
    const total = runningTotals(task).at(-1);
    expect(answersExact).toEqual([total === 5, total === 7, total === 5, null]);
    expect(solutionsExact).toEqual(answersExact);
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([0, 1, 0, 0]);
    expect(samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok', 'off-grammar']);
    // Each judgment is recorded with the response whose answer is shown first.
    expect(judgments.map(({ of }) => samples.findIndex(({ id }) => id === of))).toEqual([0, 1]);
  }
  expect(plan.updates[0]!.parts[0]).toMatchObject({
    kind: 'preference',
    objective: { kind: 'dpo', beta: 0.1 },
    reference: { set: 'main', version: 3 },
    pairs: groups.map(({ samples }) => ({
      chosen: { ids: samples[1]!.ids },
      rejected: { ids: samples[0]!.ids },
    })),
  });
});

test('a judge that always says A prefers no answer, but any answer to none', async () => {
  const { groups } = await roundWith(() => 'A');
  for (const { samples } of groups)
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([0.5, 0.5, 0.5, 0]);
});

test('where no comparison can be read the worth is missing, which is not nothing', async () => {
  const { groups, plan } = await roundWith(() => 'C');
  for (const { samples } of groups)
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([null, null, null, 0]);
  expect(plan.updates).toEqual([]);
});

test('controls ask the judge nothing', async () => {
  const { groups } = await roundWith(() => {
    throw new Error('asked');
  }, 'random');
  for (const { judgments } of groups) expect(judgments).toEqual([]);
});
