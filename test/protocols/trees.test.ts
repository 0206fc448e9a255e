/** Trees over answers and over episodes, and their record: over policies that write what a script says. */
import { describe, expect, test } from 'vitest';
import type { Completion, TokenIds } from '../../core/policy/policy.ts';
import { puct, ucb } from '../../core/rl/tree-search.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { answerGround, tokensWith, turnGround } from '../../protocols/trees/ground.ts';
import {
  answersOf,
  bestAnswer,
  type DrawSteps,
  type Growth,
  growTrees,
  type Node,
} from '../../protocols/trees/grow.ts';
import { outcomeValues, recordedNodes, valueItems } from '../../protocols/trees/stage.ts';
import { compositionTokenizer } from '../../worlds/composition/tokenizer.ts';

const END = 0;
const PROMPT = [9];
/** The step that follows a path, by the number of the draw below it; the last is drawn from then on. */
type Script = Readonly<Record<string, readonly (readonly number[])[]>>;

/** Draws by a script. `asked`: what was asked for, with the ids of its draws. */
function scripted(script: Script) {
  const counts = new Map<string, number>();
  const asked: { path: string; maxNew: number; temperature: number; ids: readonly string[] }[] = [];
  const draw: DrawSteps = async (prompts, { maxNew, temperature = 1 }) =>
    prompts.map(({ ids, sampleIds }) => {
      const path = ids.slice(PROMPT.length).join(' ');
      asked.push({ path, maxNew, temperature, ids: sampleIds });
      return sampleIds.map((): Completion => {
        const steps = script[path] ?? [[END]];
        const at = temperature === 0 ? 0 : (counts.get(path) ?? 0);
        if (temperature > 0) counts.set(path, at + 1);
        const step = steps[Math.min(at, steps.length - 1)]!.slice(0, maxNew);
        return { ids: step, logprobs: step.map(() => -1), stopped: step.length < maxNew };
      });
    });
  return { draw, asked };
}

const growth = (draw: DrawSteps, more: Partial<Growth<null>> = {}): Growth<null> => ({
  draw,
  ground: answerGround({ maxNew: 6, step: 3, isEnded: (_, ids) => ids.at(-1) === END }),
  role: 'solver',
  select: ucb(0),
  branching: { least: 2, most: 2 },
  estimate: async (nodes) => nodes.map(() => 0.5),
  unknown: 0.5,
  worst: 0,
  budget: 12,
  ...more,
});
const root = { id: 'tree', prompt: PROMPT, world: null };
const grow = async (script: Script, more: Partial<Growth<null>> = {}) => {
  const { draw, asked } = scripted(script);
  const [tree] = await growTrees([root], growth(draw, more));
  return { tree: tree!, asked };
};
/** Worth by path; what is not listed is worth one half. */
const worth =
  (values: Readonly<Record<string, number | null>>): Growth<null>['estimate'] =>
  async (nodes) =>
    nodes.map(({ ids }) => {
      const value = values[ids.join(' ')];
      return value === undefined ? 0.5 : value;
    });

const childOf = ({ children }: Node<null>, ids: TokenIds) =>
  children.find((child) => child.ids.join() === ids.join())!;

test('goes down to what is worth most, and what is found there comes back up by visits', async () => {
  const { tree, asked } = await grow(
    { '': [[1], [2]], '2': [[3], [4]], '2 3': [[END], [5]] },
    { estimate: worth({ '1': 0.2, '2': 0.6, '2 3': 0.9, '2 4': 0.1, '2 3 0': 1, '2 3 5': 0.4 }), budget: 6 },
  );
  // Below the question, below 2 (.6), and below "2 3" (.9 > .1, and .5 of both > .2 of 1).
  expect(asked.map(({ path }) => path)).toEqual(['', '2', '2 3']);
  const two = childOf(tree.root, [2]);
  const three = childOf(two, [2, 3]);
  // (.9 + 1 + .4) / 3; then (.6 + 3 · 2.3/3 + 1 · .1) / 5; then (1 · .2 + 5 · .6) / 6, since nobody estimates the question.
  expect(three.value).toBeCloseTo(2.3 / 3, 12);
  expect(two.value).toBeCloseTo(0.6, 12);
  expect([three.visits, two.visits]).toEqual([3, 5]);
  expect(tree.root.value).toBeCloseTo(3.2 / 6, 12);
  expect(tree.tokens).toBe(6);
  expect(bestAnswer(tree)!.ids).toEqual([2, 3, END]);
});

test('draws are keyed by their path alone: a larger budget, or other trees beside it, grow on from the same tree', async () => {
  const script = { '': [[1], [2]], '1': [[3], [4]], '2': [[3], [4]] };
  const { tree } = await grow(script, { budget: 4 });
  const ids = tree.draws.map(({ id }) => id);
  const larger = await grow(script, { budget: 12 });
  expect(larger.tree.draws.map(({ id }) => id).slice(0, ids.length)).toEqual(ids);
  expect(new Set(larger.tree.draws.map(({ id }) => id)).size).toBe(larger.tree.draws.length);
  const { draw } = scripted(script);
  const both = await growTrees([{ ...root, id: 'other' }, root], growth(draw, { budget: 2 }));
  // The other one drew first from the script, and its keys are its own.
  expect(both[1]!.draws.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  expect(both[0]!.draws.map(({ id }) => id)).not.toEqual(ids.slice(0, 2));
});

test('equal steps are one node, which has been drawn as often, and a share of the draws is its prior', async () => {
  const priors: number[] = [];
  const { tree } = await grow(
    { '': [[1], [1], [2]] },
    {
      branching: { least: 3, most: 3 },
      budget: 4,
      select: (branch, visits) => {
        priors.push(branch.prior);
        return puct(1)(branch, visits);
      },
    },
  );
  expect(tree.root.children.map(({ ids, drawn }) => [...ids, drawn])).toEqual([
    [1, 2],
    [2, 1],
  ]);
  expect(tree.draws.slice(0, 3).map(({ node }) => node.ids[0])).toEqual([1, 1, 2]);
  expect(priors.slice(0, 2)).toEqual([2 / 3, 1 / 3]);
});

test('a branch of which nothing new comes is passed by until nothing new comes of any', async () => {
  // Below 1 there is one answer only; 2, which is worth less, has two.
  const { asked } = await grow(
    { '': [[1], [2]], '1': [[END]], '2': [[END], [END], [3, END]] },
    { estimate: worth({ '1': 0.9, '1 0': 0.9, '2': 0.3, '2 0': 0.3 }), budget: 16 },
  );
  // Twice below 1, of which the second time brings nothing new. Then another step at first promises more than 2, a mean of .9, .3 and the question's; none comes.
  expect(asked.slice(0, 6).map(({ path }) => path)).toEqual(['', '1', '1', '', '2', '2']);
});

test('a node whose steps differ much in value is drawn below again', async () => {
  const { asked } = await grow(
    { '': [[1], [2], [3]] },
    {
      estimate: worth({ '1': 0.95 }),
      branching: { least: 2, most: 6, scale: 10 },
      budget: 8,
    },
  );
  // Nobody estimates the question, which is worth the mean of .95 and .5: 1 differs from that by .225, ⌊2.25⌋ + 1 = 3 draws. The answer after 1, worth .5, differs
  // from its .95 by .45: 5 draws.
  expect(asked.map(({ path, ids }) => [path, ids.length])).toEqual([
    ['', 2],
    ['', 1],
    ['1', 2],
    ['1', 3],
  ]);
});

test('what is cut off is worst, and its estimate is not asked for', async () => {
  const seen: string[] = [];
  const { tree } = await grow(
    {
      '': [
        [1, 1, 1],
        [2, END],
      ],
      '1 1 1': [[4, 4, 4], [END]],
    },
    {
      estimate: async (nodes) =>
        nodes.map(({ ids }) => {
          seen.push(ids.join(' '));
          return ids[0] === 1 ? 1 : 0.5;
        }),
      budget: 9,
      worst: -1,
    },
  );
  const lost = tree.draws.find(({ node }) => node.ids.length === 6)!.node;
  expect([lost.standing, lost.value]).toEqual(['lost', -1]);
  expect(seen).not.toContain('1 1 1 4 4 4');
  // Its own 1, −1 and 1.
  expect(childOf(tree.root, [1, 1, 1]).value).toBeCloseTo(1 / 3, 12);
  expect(answersOf(tree).map(({ ids }) => ids.length)).toEqual([2, 4]);
});

test('rollouts go on greedily from the best new step, and their best value counts by their weight', async () => {
  const { tree, asked } = await grow(
    { '': [[1], [2]], '2': [[3], [9]], '2 3': [[END]] },
    {
      estimate: worth({ '1': 0.1, '2': 0.4, '2 3': 0.3, '2 3 0': 0.8 }),
      rollOut: { steps: 3, weight: 0.5 },
      budget: 4,
    },
  );
  expect(asked.map(({ path, temperature }) => [path, temperature])).toEqual([
    ['', 1],
    ['2', 0],
    ['2 3', 0],
  ]);
  // .4 / 2 + .8 / 2, and the steps of the rollout are no branches.
  expect(childOf(tree.root, [2]).value).toBeCloseTo(0.6, 12);
  expect(childOf(tree.root, [2]).children).toEqual([]);
  expect(answersOf(tree).map(({ ids }) => ids)).toEqual([[2, 3, END]]);
  // By rollouts alone, where nothing can be said of an unfinished answer.
  const alone = await grow(
    { '': [[1], [2]], '1': [[END]] },
    { estimate: worth({ '1': null, '2': null, '1 0': 1 }), rollOut: { steps: 9, weight: 1 }, budget: 3 },
  );
  expect(childOf(alone.tree.root, [1]).value).toBe(1);
  expect(childOf(alone.tree.root, [2]).value).toBe(0.5);
});

test('without a budget nothing grows, and an estimate that is no number is named', async () => {
  const { draw } = scripted({});
  for (const budget of [0, Number.NaN, Number.POSITIVE_INFINITY])
    await expect(growTrees([root], growth(draw, { budget }))).rejects.toMatchObject({ code: 'trees.budget' });
  const estimate = async () => [Number.NaN];
  await expect(growTrees([root], growth(draw, { estimate }))).rejects.toMatchObject({
    code: 'trees.estimate',
    message: expect.stringContaining('NaN'),
  });
});

test('a policy that writes nothing does not grow for ever', async () => {
  const draw: DrawSteps = async (prompts) =>
    prompts.map(({ sampleIds }) => sampleIds.map(() => ({ ids: [], logprobs: [], stopped: false })));
  const [tree] = await growTrees([root], growth(draw));
  expect(tree!.tokens).toBe(0);
  expect(bestAnswer(tree!)).toBeNull();
});

describe('over an episode', () => {
  const tokenizer = openTokenizer(compositionTokenizer().json);
  const encode = (text: string) => tokenizer.encode(text);

  test('a node is a turn, the world answers between two, and turns that leave no room are lost', async () => {
    // Whoever says "a" hears "b" and then has to say "c"; anything else ends the episode at once.
    const answer = (said: string, text: string) => ({
      world: said + text,
      reply: said === '' && text === 'a' ? 'b' : null,
      outcome: 'ok' as const,
    });
    const draw: DrawSteps = async (prompts) =>
      prompts.map(({ ids, sampleIds }) =>
        sampleIds.map((_, i) => {
          const written = encode(tokenizer.decode([...ids]).endsWith('b') ? 'cd'[i % 2]! : 'ae'[i % 2]!);
          return { ids: written, logprobs: written.map(() => -1), stopped: true };
        }),
      );
    const [tree] = await growTrees([{ id: 'episode', prompt: encode('f'), world: '' }], {
      ...growth(draw),
      ground: turnGround({ contextLength: 12, tokenizer }, { maxTurns: 2, answer }, 2),
      estimate: async (nodes) => nodes.map(({ world }) => Number(world === 'ac')),
      budget: 4,
    } as Growth<string>);
    expect(answersOf(tree!).map(({ world }) => world)).toEqual(['e', 'ac', 'ad']);
    expect(tokenizer.decode([...bestAnswer(tree!)!.ids])).toBe('abc');
    // Its own 0, 1 and 0.
    expect(tree!.root.children[0]!.value).toBeCloseTo(1 / 3, 12);
    const { room } = turnGround({ contextLength: 4, tokenizer }, { maxTurns: 2, answer }, 2);
    const at = { ids: [1, 2], depth: 1, world: '' };
    expect(room(at, { id: '', prompt: [1], world: '' })).toBe(0);
  });

  test('the tokens that hold a text end steps: of the world of compositions the one that ends a call', () => {
    expect(tokensWith(tokenizer, '. ').map((id) => tokenizer.decode([id]))).toEqual(['. ']);
    expect(tokensWith(tokenizer, '\n')).toEqual([]);
  });
});

describe('what is read from a record', () => {
  const sample = (prompt: number[], ids: number[], more: object = {}) => ({
    ...{ id: [...prompt, ...ids].join('/'), role: 'solver', policy: { name: 'p', version: 0 } },
    ...{ prompt: [...PROMPT, ...prompt], ids, logprobs: ids.map(() => -1), stopped: true },
    ...{ outcome: 'ok' as const, rewards: {}, of: 'first', ...more },
  });
  // 1 ─ "1 2" ─ right, wrong; 3 is an answer that is wrong, and "7 8" has lost its parent.
  const samples = [
    sample([1, 2], [END], { of: undefined, rewards: { reward: 1 } }),
    sample([], [1]),
    sample([], [1]),
    sample([1], [2]),
    sample([1, 2], [4, END], { of: undefined, rewards: { reward: 0 } }),
    sample([], [3, END], { of: undefined, rewards: { reward: 0 } }),
    sample([7], [8]),
  ];
  const nodes = recordedNodes(samples, PROMPT);

  test('nodes come after their parents, each once, and none without its parent', () => {
    expect(nodes.map(({ ids, parent }) => [ids.join(' '), parent])).toEqual([
      ['1', null],
      ['1 2', 0],
      ['3 0', null],
      ['1 2 0', 1],
      ['1 2 4 0', 1],
    ]);
  });

  test('the share of right answers below each node', () => {
    expect(outcomeValues(nodes)).toEqual([0.5, 0.5, 0, 1, 0]);
  });

  test('a value head is taught each node once, at its last token', () => {
    const items = valueItems(PROMPT, nodes, [0.5, 0.75, null, 1, 0.25]);
    expect(items.map(({ ids, targets, weights }) => ({ ids, targets, weights }))).toEqual([
      { ids: [1, 2, END], targets: [0.5, 0.75, 1], weights: [1, 1, 1] },
      { ids: [1, 2, 4, END], targets: [0, 0, 0, 0.25], weights: [0, 0, 0, 1] },
    ]);
  });
});
