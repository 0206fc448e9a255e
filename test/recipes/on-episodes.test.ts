/** Recipes over episodes that agents hold: what each makes of rewards of whole episodes, worked by hand, and what is done with held-out tasks. */
import { describe, expect, test } from 'vitest';
import { FILE_RECIPES } from '../../cli/file-recipes.ts';
import { figuresOfEpisodes } from '../../cli/policy/eval-episodes.ts';
import { lackedByAgents } from '../../cli/recipe/runs-on.ts';
import type { DrawingContext } from '../../core/game/game.ts';
import type {
  LearnTools,
  PolicyPart,
  RoundRecords,
  SftPart,
  TrainingPlan,
  TurnPreferencePart,
  ValuePart,
} from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import { roundOf } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { episodeFigures } from '../../protocols/held-out-episodes.ts';
import { FROM_EPISODES, fromEpisodes } from '../../recipes/from-files.ts';
import { grpo } from '../../recipes/grpo/recipe.ts';
import { recipes } from '../../recipes/index.ts';
import { bindingsOf } from '../../recipes/run-order.ts';
import { writeTask } from '../../worlds/questions/task-text.ts';
import { groupOf, turnsOf } from './turns.ts';

const task = (i: number) => ({
  messages: [{ role: 'user' as const, content: `Task ${i}` }],
  answer: `${i}`,
  metadata: {},
  difficulty: null,
});
const placed = (i: number) => ({ ...task(i), file: 'a.jsonl', line: i + 1 });
const data = (settings: object = {}) => ({
  name: 'a.jsonl',
  start: 'arithmetic-base',
  checker: 'number',
  extract: ['whole'],
  sources: [{ weight: 1, tasks: Array.from({ length: 8 }, (_, i) => placed(i)) }],
  heldOut: [placed(90), placed(91), placed(92)],
  settings: { maxNew: 8, ...settings },
});

/** A group of episodes, each as its number of turns and its reward. */
const held = (
  index: number,
  episodes: readonly (readonly [turns: number, reward: number | null])[],
  text = writeTask(task(index)),
) =>
  groupOf(
    deriveId('group', index),
    index,
    text,
    episodes.flatMap(([turns, reward], e) =>
      turnsOf(`${index}/${e}`, 'solver', turns, reward, { token: 10 * index + e }),
    ),
  );

const GROUPS = [
  // All alike: nothing is learned from which is better.
  held(0, [
    [1, 1],
    [2, 1],
    [1, 1],
  ]),
  // One succeeds in two turns, one fails in one, and one has no reward.
  held(1, [
    [1, 0],
    [2, 1],
    [1, null],
  ]),
  // Far apart, and two equally good ones.
  held(2, [
    [1, -3],
    [1, 5],
    [3, 5],
  ]),
];

const settings = (recipe: string, variant?: string) => ({
  recipe,
  seed: 0,
  policy: 'mine',
  rewardFunction: 'posted',
  freeze: [],
  tasks: 1,
  groupSize: 3,
  ...(variant === undefined ? {} : { variant }),
});

const tools = {
  // The value before a turn follows from its first token: 0.1 for every one here.
  values: async (_: string, sequences: readonly { ids: readonly number[] }[]) =>
    sequences.map(({ ids }) => Float32Array.from(ids, () => 0.1)),
} as unknown as LearnTools;

async function planOf(
  name: string,
  {
    variant,
    groups = GROUPS,
    more = {},
    index = 1,
  }: { variant?: string; groups?: readonly ScoredGroup[]; more?: object; index?: number } = {},
): Promise<TrainingPlan> {
  const recipe = fromEpisodes(name).make(data(more));
  const asked = settings(recipe.name, variant);
  const round = roundOf(asked, bindingsOf(recipe, asked), index, 0);
  const records = {
    round,
    groups,
    proposals: { round: round.id, samples: [], tasks: [] },
    version: 0,
    recipeState: undefined,
  };
  return recipe.learn(records satisfies RoundRecords, tools);
}

const partOf = <P>({ updates }: TrainingPlan, set = 'main'): P =>
  updates.find((update) => update.set === set)!.parts[0] as P;
/** First tokens, which name episodes, with the advantages of their answers. */
const credited = ({ items }: PolicyPart) => items.map(({ sample, advantage }) => [sample.ids[0], advantage]);
const about = (value: number) => expect.closeTo(value, 5);

test('dapo trains the first tasks whose episodes differ, whole episodes against each other', async () => {
  const plan = await planOf('dapo');
  // Of group 1: mean 0.5, deviation of a sample √0.5; every answer of an episode has its advantage.
  const a = 0.5 / (Math.SQRT1_2 + 1e-6);
  expect(credited(partOf<PolicyPart>(plan))).toEqual([
    [10, about(-a)],
    [11, about(a)],
    [11, about(a)],
  ]);
  expect(partOf<PolicyPart>(plan).objective).toEqual({ kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.28 });
  expect(plan.updates[0]!.epochs).toBe(6);
  const all = await planOf('dapo', { variant: 'no-dynamic-sampling', more: { epochs: 2 } });
  expect(partOf<PolicyPart>(all).items).toHaveLength(4 + 3 + 5);
  expect(all.updates[0]!.epochs).toBe(2);
});

test('llama-rl centres rewards and does not divide, and its sampler lags', async () => {
  const plan = await planOf('llama-rl');
  expect(credited(partOf<PolicyPart>(plan)).slice(4, 7)).toEqual([
    [10, -0.5],
    [11, 0.5],
    [11, 0.5],
  ]);
  const recipe = fromEpisodes('llama-rl').make(data());
  expect(bindingsOf(recipe, settings(recipe.name, 'aipo-4'))).toEqual({ solver: { lag: 4 } });
});

test('ragen trains the tasks whose returns vary most', async () => {
  const plan = await planOf('ragen', {
    groups: [
      ...GROUPS,
      held(3, [
        [1, 2],
        [1, 2],
        [1, 2.5],
      ]),
    ],
  });
  expect(new Set(credited(partOf<PolicyPart>(plan)).map(([token]) => token))).toEqual(new Set([20, 21, 22]));
  expect(partOf<PolicyPart>(plan).entropy).toBe(1e-3);
  // 4 + 3 + 5 + 3 answers in 12 episodes.
  expect(plan.figures).toMatchObject({ turns: about((4 / 3 + 4 / 3 + 5 / 3 + 1) / 4) });
  expect(plan.figures).not.toHaveProperty('success');
});

test('dpo prefers the best episode of a task to the worst, all of their answers together', async () => {
  const { kind, level, pairs } = partOf<TurnPreferencePart>(await planOf('dpo'));
  expect([kind, level]).toEqual(['turn-preference', 'sum']);
  expect(
    pairs.map(({ chosen, rejected }) => [chosen, rejected].map((turns) => turns.map(({ ids }) => ids[0]))),
  ).toEqual([
    [[11, 11], [10]],
    [[21], [20]],
  ]);
  expect(partOf<TurnPreferencePart>(await planOf('dpo', { variant: 'turn-mean' })).level).toBe('mean');
});

test('sft imitates the first of the best episodes, or all above the mean', async () => {
  const first = async (variant?: string) =>
    partOf<SftPart>(await planOf('sft', variant === undefined ? {} : { variant })).items.map(
      ({ ids }) => ids[0],
    );
  expect(await first()).toEqual([11, 11, 21]);
  expect(await first('above-mean')).toEqual([11, 11, 21, 22, 22, 22]);
});

test('q-evolve asks its critic after the prompt of each answer, and credits what an answer changed', async () => {
  const plan = await planOf('q-evolve', {
    groups: [
      held(1, [
        [1, 0],
        [2, 1],
      ]),
    ],
  });
  const worth = partOf<ValuePart>(plan, 'critic');
  // r + 0.99·V(next) with V = 0.1; weights 1 + R·0.5ⁿ.
  expect(worth.items.map(({ ids, targets, weights }) => [ids, targets, weights])).toEqual([
    [[10], [0], [1]],
    [[11], [about(0.099)], [1.5]],
    [[11], [1], [2]],
  ]);
  // δ = −0.1; −0.001; 0.9, so that A = −0.1, −0.001 + 0.891·0.9 = 0.8009, 0.9, which are whitened: the order stays.
  const [lost, before, won] = credited(partOf<PolicyPart>(plan)).map(([, advantage]) => advantage as number);
  expect((before! - lost!) / (won! - lost!)).toBeCloseTo(0.9009, 4);
  expect(lost! + before! + won!).toBeCloseTo(0, 4);
});

test('what keeps agents from a recipe is said of every other one', () => {
  const lacked = new Map(
    [...recipes, ...FILE_RECIPES].map((recipe) => [recipe.name, lackedByAgents(recipe)]),
  );
  const trained = [...lacked].flatMap(([name, lacks]) => (lacks.length ? [] : [name]));
  expect(trained.sort()).toEqual([...FROM_EPISODES.keys(), 'grpo'].sort());
  expect([...lacked.values()].flat().filter((text) => text.trim() === '')).toEqual([]);
  const said = (name: string) => lacked.get(name)!.join(' and ');
  expect(said('rise')).toBe('to ask the policy itself: to verify');
  expect(said('ttrl')).toBe('single answers: the votes of its solver are the reward');
  expect(said('sage')).toBe('to ask the policy itself: to follow, hint and a worked solution to each task');
  expect(said('spiral')).toBe('a game of several seats');
  expect(said('distil')).toBe('another policy that teaches');
});

test('an evaluation by agents has the figures of its episodes, and counts what is missing', () => {
  const one = held(0, [
    [1, 1],
    [3, 0],
    [2, null],
  ]);
  const two = held(1, [
    [1, 1],
    [1, 1],
    [2, 0.4],
  ]);
  // Three of five episodes, shares of 1/2 and 2/3 of two tasks; turns 1 + 3 + 1 + 1 + 2.
  const { interval, ...figures } = figuresOfEpisodes([one, two], 0.5, 6)!;
  expect(figures).toEqual({
    success: 0.6,
    return: about(3.4 / 5),
    turns: 1.6,
    tokens: 3.2,
    episodes: 5,
    missing: 1,
  });
  expect([interval.low < 0.58, interval.high > 0.59]).toEqual([true, true]);
  expect(figuresOfEpisodes([held(2, [[1, null]])], 0.5, 1)).toBeNull();
});

describe('held-out episodes', () => {
  const HELD = { heldOutEpisodes: { tasks: 2, every: 2 } };
  const recipe = fromEpisodes('sft').make(data(HELD));
  const texts = [90, 91].map((i) => writeTask(task(i)));

  test('are of the first held-out tasks, in every other round, and their agents are told so', async () => {
    const asked = { ...settings(recipe.name), tasks: 3 };
    const tasksOf = async (index: number) => {
      const round = roundOf(asked, bindingsOf(recipe, asked), index, 0);
      return (await recipe.propose({ round } as DrawingContext)).tasks;
    };
    const [one, two] = [await tasksOf(1), await tasksOf(2)];
    expect(one.slice(3).map((admitted) => admitted.task)).toEqual(texts);
    expect(one.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(two).toHaveLength(3);
    expect(recipe.agent!.taskView(texts[0]!)).toMatchObject({ answer: '90', heldOut: true });
    expect(recipe.agent!.taskView(one[0]!.task)).not.toHaveProperty('heldOut');
    expect([recipe.isMeasured!(texts[1]!), recipe.isMeasured!(one[0]!.task)]).toEqual([true, false]);
  });

  test.each([...FROM_EPISODES.keys()])('never train %s', async (name) => {
    const own = await planOf(name, { more: HELD });
    const withHeld = [
      ...GROUPS,
      held(
        8,
        [
          [1, -9],
          [4, 9],
          [2, 3],
        ],
        texts[0],
      ),
    ];
    const plan = await planOf(name, { more: HELD, groups: withHeld });
    expect(plan.updates).toEqual(own.updates);
    // Two of three reach 0.5; (−9 + 9 + 3)/3; 7 answers of 2 tokens.
    expect(plan.figures).toEqual({
      ...own.figures,
      'heldOut.success': about(2 / 3),
      'heldOut.return': 1,
      'heldOut.turns': about(7 / 3),
      'heldOut.tokens': about(14 / 3),
      'heldOut.episodes': 3,
    });
  });

  test('without a reward count nowhere, and none at all gives no figures', () => {
    expect(episodeFigures([held(1, [[1, null]])], 0.5)).toBeNull();
    expect(
      episodeFigures(
        [
          held(1, [
            [1, null],
            [1, 0.5],
          ]),
        ],
        0.5,
      ),
    ).toMatchObject({ episodes: 1, success: 1 });
  });

  test('need agents', () => {
    const questions = data(HELD);
    expect(() => grpo.make(questions)).toThrow(/heldOutEpisodes means nothing here/);
    const samples = { ...data({ heldOutSamples: {} }), tools: ['run_javascript'] };
    expect(() => grpo.make(samples)).toThrow(/heldOutSamples is not computed for a policy with tools/);
    expect(grpo.make({ ...questions, agent: true }).isMeasured!(texts[0]!)).toBe(true);
  });
});
