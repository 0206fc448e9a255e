import { expect, test } from 'vitest';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, PolicyPart } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext, type RoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { shipped } from '../../recipes/index.ts';
import { proposerRewards } from '../../recipes/ssp/recipe.ts';
import { poolAfter } from '../../recipes/ssp/task-pool.ts';
import { isHeldOutQuestion, theWorld } from '../../worlds/knowledge/episode.ts';
import { parseDocument } from '../../worlds/knowledge/world.ts';
import { scriptedPolicy, textTokenizer } from '../protocols/scripted-policy.ts';
import { recordsOf } from './records.ts';
import { groupOf, turnsOf } from './turns.ts';

const ssp = shipped.find('ssp');

const task = (proposal: string | null, index: number) => ({
  group: `g${index}`,
  index,
  task: `the land of q${index}? a`,
  proposal,
});

test('a proposal earns what the solver misses, a refused one what it is told, and never anything for what is not known', () => {
  const episodes = [
    turnsOf('asked', 'proposer', 2, null),
    turnsOf('refused', 'proposer', 1, null, { outcome: 'unsupported' }),
    turnsOf('held', 'proposer', 1, null, { outcome: 'held-out' }),
    turnsOf('lost', 'proposer', 1, null),
  ];
  // four episodes of the asked question, one of which succeeds, in one turn or two; the group of the other never came
  const solved = [
    ...turnsOf('s0', 'solver', 2, 1),
    ...turnsOf('s1', 'solver', 1, 0),
    ...turnsOf('s2', 'solver', 1, 0),
    ...turnsOf('s3', 'solver', 1, 0),
  ];
  const asked = groupOf('g0', 0, 'the land of q0? a', solved, episodes[0]![0]!.id);
  // a question of the pool is nobody's
  const pooled = groupOf('g1', 1, 'the land of q1? a', turnsOf('s4', 'solver', 1, 1));
  const paid = (refused: number) =>
    proposerRewards({ round: '', samples: episodes.flat(), tasks: [] }, [asked, pooled], refused).map(
      ({ turns, reward }) => [turns.length, reward],
    );
  expect(paid(0)).toEqual([
    [2, 0.75],
    [1, 0],
  ]);
  expect(paid(-0.1)).toEqual([
    [2, 0.75],
    [1, -0.1],
  ]);
});

test('the proposer learns first, by what its questions earn as it stands; then the solver, by GRPO over episodes', async () => {
  const asked = turnsOf('asked', 'proposer', 2, null);
  const refused = turnsOf('refused', 'proposer', 1, null, { outcome: 'unsupported' });
  const solved = [1, 0, 0, 0].flatMap((reward, i) => turnsOf(`s${i}`, 'solver', i === 0 ? 2 : 1, reward));
  const groups = [groupOf('g0', 0, 'the land of q0? a', solved, asked[0]!.id)];
  const learnt = async (variant: string, index: number) => {
    const records = recordsOf('ssp', groups, {
      variant,
      index,
      rewardFunction: 'given',
      recipeState: { tasks: ['old'] },
    });
    const tasks = [task(asked[0]!.id, 0)];
    const proposals = { ...records.proposals, samples: [...asked, ...refused], tasks };
    return planTraining(ssp, { ...records, proposals }, {} as LearnTools);
  };
  const { updates, recipeState, figures } = await learnt('', 9);
  const parts = updates.map(({ set, parts: [part] }) => ({ set, ...(part as PolicyPart) }));
  expect(parts.map(({ set, role, items }) => [set, role, items.map(({ advantage }) => advantage)])).toEqual([
    // 1 less the solver's mean of a quarter, on both turns; the refused question's one turn is worth nothing
    ['main', 'proposer', [0.75, 0.75, 0]],
    // mean 1/4, deviation 1/2 over four episodes; the first has two turns
    ['main', 'solver', [1.5, 1.5, -0.5, -0.5, -0.5].map((value) => expect.closeTo(value, 4))],
  ]);
  for (const { objective, kl, aggregation } of parts) {
    expect(objective).toEqual({ kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.285 });
    expect(kl).toEqual({ weight: 0.01, estimator: 'k3', reference: { set: 'main', version: 0 } });
    expect(aggregation).toEqual({ mode: 'token-mean' });
  }
  expect(recipeState).toEqual({ tasks: ['old', groups[0]!.task] });
  expect(figures).toMatchObject({ valid: 1 / 2, solverReward: 1 / 4, proposerReward: 0.75 / 2 });
  expect((await learnt('', 10)).recipeState).toEqual({ tasks: [] });
  const punished = (await learnt('penalty', 9)).updates[0]!.parts[0] as PolicyPart;
  expect(punished.items.map(({ advantage }) => advantage)).toEqual([0.75, 0.75, -0.1]);
});

test('the pool grows by what is fresh and is emptied every ten rounds', () => {
  const proposals = { tasks: [task('p', 0), task(null, 1)] };
  expect(poolAfter(undefined, 1, proposals, 10)).toEqual({ tasks: [proposals.tasks[0]!.task] });
  expect(poolAfter({ tasks: ['old'] }, 9, proposals, 10)).toEqual({
    tasks: ['old', proposals.tasks[0]!.task],
  });
  expect(poolAfter({ tasks: ['old'] }, 10, proposals, 10)).toEqual({ tasks: [] });
});

const settings = {
  recipe: 'ssp',
  seed: 0,
  policy: 'p',
  rewardFunction: 'given',
  freeze: [],
  tasks: 24,
  groupSize: 2,
};

function stageOf(
  write: (prompt: string, id: string, i: number) => string,
  recipeState: unknown = undefined,
  rewardFunction = settings.rewardFunction,
): RoundContext<Recipe> {
  const tokenizer = textTokenizer();
  const policy = scriptedPolicy(tokenizer, write);
  return openRoundContext({
    recipe: ssp,
    round: roundOf({ ...settings, rewardFunction }, { proposer: {}, solver: {} }, 1, 3),
    tokenizer,
    recipeState: () => Promise.resolve(recipeState),
    use: (_ref, work) => work(policy),
  });
}

/** The last document in a prompt. */
const lastOf = (prompt: string) =>
  parseDocument(
    prompt
      .replace(/<sep>$/, '')
      .split(/<sep>|<eos>/)
      .at(-1)!,
  );

/** A proposer that searches once, for what the first relation finds, and asks for it; or asks something else of the same thing. */
const propose = (prompt: string, wrong: boolean): string => {
  const [, kind, answer] = /^<propose>([a-z]+) ([a-z]+) /.exec(prompt)!;
  if (!prompt.includes('<step>')) {
    const relation = { town: 'home', guild: 'guild', land: 'land' }[kind!];
    return `<step>?${relation} ${answer}<eos>`;
  }
  const found = lastOf(prompt)!;
  const relation = wrong
    ? ({ home: 'guild', guild: 'home', land: 'mayor' } as Record<string, string>)[found.relation]
    : found.relation;
  return `<answer>the ${relation} of ${found.subject}?<eos>`;
};

/** A solver that does as the question says. */
const solve = (prompt: string): string => {
  if (prompt.includes('<step>')) return `<answer>${lastOf(prompt)!.object}<eos>`;
  const [, relation, name] = /^<solve>the ([a-z]+) of ([a-z]+)\?/.exec(prompt)!;
  return `<step>?${relation} ${name}<eos>`;
};

test('questions that their documents answer are admitted, others are not, and the pool fills their places', async () => {
  const right = await playStages(
    stageOf((prompt) => (prompt.startsWith('<solve>') ? solve(prompt) : propose(prompt, false))),
  );
  const asked = right.proposals.samples.filter(({ turn }) => turn === 1);
  expect(asked).toHaveLength(24);
  expect(asked.map(({ outcome }) => outcome)).toContain('ok');
  for (const { outcome } of asked)
    expect(['ok', 'held-out', 'duplicate', 'unsupported', 'gives-away']).toContain(outcome);
  expect(right.groups).toHaveLength(asked.filter(({ outcome }) => outcome === 'ok').length);
  for (const { samples, answersExact } of right.groups) {
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, 1]);
    expect(answersExact).toEqual([true, true, true, true]);
  }
  for (const { task: text } of right.proposals.tasks)
    expect(isHeldOutQuestion(text.slice(0, text.indexOf('?') + 1))).toBe(false);

  const pool = { tasks: ['the land of bana? lita'] };
  const wrong = await ssp.propose(stageOf((prompt) => propose(prompt, true), pool));
  expect(wrong.samples.filter(({ turn, outcome }) => turn === 1 && outcome === 'ok')).toHaveLength(0);
  expect(wrong.tasks.map(({ task: text, proposal }) => [text, proposal])).toEqual([[pool.tasks[0], null]]);
});

test('the solver is paid for the name the proposer was given, whatever the world says', async () => {
  const { relation, subject, object } = theWorld().world.triples.find(
    (triple) => !isHeldOutQuestion(`the ${triple.relation} of ${triple.subject}?`),
  )!;
  const context = stageOf(solve);
  const admitted = [
    { group: 'g0', index: 0, task: `the ${relation} of ${subject}? ${object}`, proposal: null },
    { group: 'g1', index: 1, task: `the ${relation} of ${subject}? other`, proposal: null },
  ];
  const [right, wrong] = await ssp.judge(context, await ssp.rollOut(context, admitted));
  expect(right!.samples[0]!.rewards.reward).toBe(1);
  expect(wrong!.samples[0]!.rewards.reward).toBe(0);
  expect(wrong!.answersExact[0]).toBe(true);
});

test('the format control pays every answer, a wrong one too, and no episode that ends without', async () => {
  const { relation, subject } = theWorld().world.triples.find(
    (triple) => !isHeldOutQuestion(`the ${triple.relation} of ${triple.subject}?`),
  )!;
  const task = { group: 'g0', index: 0, task: `the ${relation} of ${subject}? other`, proposal: null };
  const earns = async (write: (prompt: string) => string) => {
    const context = stageOf(write, undefined, 'format');
    const [group] = await ssp.judge(context, await ssp.rollOut(context, [task]));
    return group!.samples.map(({ rewards }) => rewards.reward);
  };
  // Two episodes of two turns each; and two that end with their first, which is no turn.
  expect(await earns(solve)).toEqual([1, 1, 1, 1]);
  expect(await earns(() => 'who knows<eos>')).toEqual([0, 0]);
});
