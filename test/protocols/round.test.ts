import { expect, test } from 'vitest';
import { monitorRound } from '../../core/monitor/monitors.ts';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, PolicyItem, PolicyPart } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext, type RoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import { payProposals } from '../../protocols/trio/learn.ts';
import { shipped } from '../../recipes/index.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { scriptedPolicy, textTokenizer } from './scripted-policy.ts';

const trio = shipped.find('trio');

const settings = {
  recipe: 'trio',
  seed: 0,
  policy: 'p',
  rewardFunction: 'mix',
  freeze: [] as string[],
  tasks: 2,
  groupSize: 4,
};

function stageOf(
  write: (prompt: string, sampleId: string, i: number) => string,
  change: Partial<typeof settings> = {},
): RoundContext<Recipe> {
  const tokenizer = textTokenizer();
  const round = roundOf({ ...settings, ...change }, { proposer: {}, solver: {}, judge: {} }, 1, 3);
  const policy = scriptedPolicy(tokenizer, write);
  const recipeState = () => Promise.resolve(undefined);
  return openRoundContext({ recipe: trio, round, tokenizer, recipeState, use: (_ref, work) => work(policy) });
}

/** Proposals in order; each task is solved right by two of four rollouts, worked, and wrong or unreadable by the others. */
const script = (prompt: string, _id: string, i: number): string => {
  if (prompt === '<propose>') return `${['1+2', 'x', '1+2', arithmetic.heldOut()[0], '5-3+1'][i % 5]}<eos>`;
  if (prompt.startsWith('<solve>1+2'))
    return ['<step>3<answer>3<eos>', '<answer>3<eos>', '<answer>4<eos>', '3<eos>'][i]!;
  if (prompt.startsWith('<solve>')) return '<step>2<step>3<answer>3<eos>';
  if (prompt.includes('<answer>4')) return '<right><eos>';
  const steps = prompt.split('<step>').length - 1;
  return `${'<ok>'.repeat(steps)}<right><eos>`;
};

/** Trained items by role, as the learner would get them. */
async function batchOf(
  { round }: RoundContext,
  proposals: Proposals,
  groups: readonly ScoredGroup[],
): Promise<Record<string, readonly PolicyItem[]>> {
  const records = { round, proposals, groups, recipeState: undefined, version: 3 };
  const { updates } = await planTraining(trio, records, {} as LearnTools);
  return Object.fromEntries(updates[0]!.parts.map((part) => [part.role, (part as PolicyPart).items]));
}

test('the gates keep every proposal with its reason and stop at the wanted number of tasks', async () => {
  const { samples, tasks } = await trio.propose(stageOf(script, { tasks: 2 }));
  // three a batch (2 + a quarter, rounded up): 1+2, x, 1+2 | 1+2, x, 1+2 | …: only one distinct task is ever written
  expect(samples.slice(0, 3).map((sample) => sample.outcome)).toEqual(['ok', 'off-grammar', 'duplicate']);
  expect(tasks.map((task) => task.task)).toEqual(['1+2']);
  expect(samples).toHaveLength(18);
});

test('a held-out task is recorded and never admitted', async () => {
  const { samples, tasks } = await trio.propose(stageOf(script, { tasks: 4 }));
  expect(samples.map((sample) => sample.outcome)).toContain('held-out');
  expect(tasks.map((task) => task.task)).toEqual(['1+2', '5-3+1']);
});

test('a whole round: rewards, pass rates, gold and truth', async () => {
  const context = stageOf(script, { tasks: 4 });
  const { proposals, groups } = await playStages(context);
  const [first, second] = groups;
  expect(first!.samples.map((sample) => sample.outcome)).toEqual(['ok', 'ok', 'ok', 'off-grammar']);
  expect(first!.answersExact).toEqual([true, true, false, null]);
  expect(first!.judgments.map((sample) => sample.rewards.agreement)).toEqual([1, 1, 0]);
  expect(first!.samples.map((sample) => sample.rewards.reward)).toEqual([1, 0.8, 0, 0]);
  expect(second!.samples.map((sample) => sample.rewards.reward)).toEqual([1, 1, 1, 1]);
  const paid = payProposals(proposals, groups);
  expect([...paid.values()].slice(0, 5)).toEqual([1, -0.5, -0.5, null, 0]);
  const monitors = monitorRound(trio, context.tokenizer.decode, proposals, groups);
  expect(monitors).toMatchObject({
    gold: 6 / 8,
    formatRate: 7 / 8,
    zeroVariance: 0.5,
    judge: { wrongAsRight: 1, rightAsRight: 6, void: 0 },
  });
});

test('doing a stage again gives the same records', async () => {
  const once = await playStages(stageOf(script, { tasks: 4 }));
  expect(await playStages(stageOf(script, { tasks: 4 }))).toEqual(once);
});

test('the batch does not depend on the order in which groups arrive', async () => {
  const context = stageOf(script, { tasks: 4 });
  const { proposals, groups } = await playStages(context);
  const batch = await batchOf(context, proposals, groups);
  expect(await batchOf(context, proposals, [...groups].reverse())).toEqual(batch);
  expect(batch.solver!.map((item) => Number(item.advantage)).reduce((a, b) => a + b, 0)).toBeCloseTo(0);
});

test('a frozen role uses version 0 and is not trained', async () => {
  const context = stageOf(script, { tasks: 4, freeze: ['judge'] });
  expect(context.round.roles).toMatchObject({ judge: { version: 0 }, solver: { version: 3 } });
  const { proposals, groups } = await playStages(context);
  expect(Object.keys(await batchOf(context, proposals, groups))).toEqual(['proposer', 'solver']);
});

test('a missing group is missing data: its proposal has no reward and is not trained on', async () => {
  const context = stageOf(script, { tasks: 4 });
  const { proposals, groups } = await playStages(context);
  const batch = await batchOf(context, proposals, groups.slice(1));
  const ids = batch.proposer!.map((item) => item.sample.id);
  expect(ids).not.toContain(groups[0]!.proposal);
  expect(
    batch.solver!.every((item) => groups[1]!.samples.some((sample) => sample.id === item.sample.id)),
  ).toBe(true);
});

test('the judge’s verdict pays the solver where the reward is gold-free', async () => {
  const context = stageOf(script, { tasks: 4, rewardFunction: 'judge' });
  const { groups } = await playStages(context);
  expect(groups[0]!.samples.map((sample) => sample.rewards.reward)).toEqual([1, 1, 1, 0]);
  expect(groups[0]!.judgments).toHaveLength(12);
});
