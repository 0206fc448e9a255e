import { expect, test } from 'vitest';
import type { SftPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { barelyProved, elegance, hardProofs, matchingWeights } from '../../recipes/stp/select.ts';
import { type StpState, statements } from '../../recipes/stp/statements.ts';
import { rewriting, shortestDerivation } from '../../worlds/rewriting/family.ts';

const stp = shipped.find('stp');

const proofOf = (task: string): string => {
  const words = shortestDerivation(task)!;
  return `${words.map((word) => `<step>${word}`).join('')}<answer>${words.at(-1)}<eos>`;
};
const WRONG = '<step>a<answer>a<eos>';

test('the set is the same in every run, on the training side, with derivations of two to four lines', () => {
  expect(statements()).toHaveLength(256);
  expect(new Set(statements()).size).toBe(256);
  for (const statement of statements()) {
    expect(rewriting.isHeldOut(statement)).toBe(false);
    expect([2, 3, 4]).toContain(shortestDerivation(statement)!.length);
  }
});

const tried = (task: string, attempts: number, ...proofs: string[]) => ({ task, attempts, proofs });

test('conjectures are kept that a quarter of the attempts prove or fewer, without the fifth of short proofs', () => {
  // Three characters of proof to six of the statement, four to two.
  expect(elegance(tried('abcdef', 8, 'xxx', 'xxxxx'))).toBe(0.5);
  expect(elegance(tried('ab', 8, 'xxxx'))).toBe(2);
  const edge = [5, 1, 4, 3, 2].map((length) => tried('ab', 8, 'x'.repeat(length)));
  const never = tried('cd', 8);
  const often = tried('ef', 8, 'x', 'y', 'z');
  const twice = tried('gh', 8, 'xxxxxx', 'yyyyyy');
  // A fifth of six, rounded down, is one: the shortest proof goes.
  expect(barelyProved([...edge, never, often, twice])).toEqual([edge[0], edge[2], edge[3], edge[4], twice]);
  // Of four a fifth is none.
  expect(barelyProved(edge.slice(0, 4))).toHaveLength(4);
});

test('each target gives its weight to the conjecture that is most like it', () => {
  const conjectures = ['aaaa', 'bbbb', 'cccc'];
  // Two of three targets are like the first: 2 · 3 / 3. Nothing is like the second.
  expect(matchingWeights(conjectures, ['aaab', 'aaac', 'cccb'])).toEqual([2, 0, 1]);
  expect(matchingWeights(conjectures, [])).toEqual([1, 1, 1]);
  // Five conjectures and a target: 5 is cut off at 4.
  expect(matchingWeights([...conjectures, 'dddd', 'eeee'], ['aaab'])).toEqual([4, 0, 0, 0, 0]);
});

test('proofs of one statement share a weight; what is mostly proved is left out', () => {
  const proofs = hardProofs(
    [
      tried('s', 4, 'p', 'p'),
      tried('t', 8, 'q', 'rr', 'q', 'q'),
      tried('u', 4, 'x', 'x', 'x'),
      tried('v', 4),
    ],
    (text) => 100 * text.length,
  );
  expect(proofs).toEqual([
    { task: 's', text: 'p', weight: expect.closeTo(Math.exp(-0.1)) },
    { task: 't', text: 'q', weight: expect.closeTo(Math.exp(-0.1) / 2) },
    { task: 't', text: 'rr', weight: expect.closeTo(Math.exp(-0.2) / 2) },
  ]);
});

/**
 * Four tasks, four attempts each. The first conjecture is one application of the first rule and is proved once; the second is not well-formed, so
 * that three statements are asked: always, twice and never proved.
 */
async function play(order: { variant?: string; rewardFunction?: string; recipeState?: StpState } = {}) {
  const prompts: string[] = [];
  const asked: string[] = [];
  let written = 0;
  const played = await playWritten(
    stp,
    (prompt, i) => {
      if (prompt.startsWith('<propose>')) {
        prompts.push(prompt);
        const [, from, to] = /^<propose>rw:([abc]+)>([abc]+),/.exec(prompt)!;
        return written++ === 0 ? `${from};${to}<eos>` : 'x<eos>';
      }
      const task = prompt.slice('<solve>'.length, -'<sep>'.length);
      if (!asked.includes(task)) asked.push(task);
      const right = [1, 4, 2, 0][asked.indexOf(task)]!;
      return i < right ? proofOf(task) : WRONG;
    },
    { tasks: 4, groupSize: 4, index: 7, ...order },
  );
  return { ...played, prompts };
}

const parts = ({ plan }: Awaited<ReturnType<typeof play>>) => plan.updates[0]!.parts as SftPart[];

test('a round: conjectures in the rules of statements, statements for the others, the checker accepts', async () => {
  const played = await play();
  const { proposals, groups, plan, prompts } = played;
  const [conjecture, ...asked] = groups.map(({ task }) => task);
  for (const prompt of prompts)
    expect(statements().map((statement) => `<propose>rw:${statement.split(';')[0]};`)).toContain(prompt);
  expect(proposals.samples.map(({ outcome }) => outcome)).toEqual(['ok', 'off-grammar']);
  expect(groups.map(({ proposal }) => proposal)).toEqual([proposals.samples[0]!.id, null, null, null]);
  expect(conjecture!.startsWith(prompts[0]!.slice('<propose>rw:'.length))).toBe(true);
  for (const task of asked) expect(statements()).toContain(task);
  expect(groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward))).toEqual([
    [1, 0, 0, 0],
    [1, 1, 1, 1],
    [1, 1, 0, 0],
    [0, 0, 0, 0],
  ]);
  // Of the statement that is always proved nothing is learnt; of two equal proofs one.
  const [prover, conjecturer] = parts(played);
  expect(parts(played).map(({ role }) => role)).toEqual(['solver', 'conjecturer']);
  const state = plan.recipeState as StpState;
  expect(state.proved).toEqual([asked[0], asked[1]]);
  expect(state.examples.map(({ round, role, prompt, text }) => [round, role, prompt, text])).toEqual([
    [7, 'solver', `<solve>${asked[1]}<sep>`, proofOf(asked[1]!)],
    [7, 'solver', `<solve>${conjecture}<sep>`, proofOf(conjecture!)],
    [7, 'conjecturer', prompts[0], `${conjecture!.split(';').slice(1).join(';')}<eos>`],
  ]);
  const weights = prover!.items.map(({ ids, weight }) => [ids.length, weight]);
  expect(weights).toEqual(weights.map(([length]) => [length, expect.closeTo(Math.exp(-0.001 * length!))]));
  // One conjecture is kept, and the only statement that is left gives it its weight.
  expect(conjecturer!.items.map(({ weight }) => weight)).toEqual([1]);
  expect(conjecturer!.items[0]!.prompt).toEqual(proposals.samples[0]!.prompt);
  expect(plan.figures).toMatchObject({
    proved: 2 / 256,
    newlyProved: 2,
    admitted: 0.5,
    conjecturesProved: 1,
    conjecturesKept: 1,
    conjectureRate: 0.25,
    keptDifficulty: 1,
  });
});

test('examples are trained on again for two rounds, and what is proved is not asked again', async () => {
  const example = { role: 'solver', prompt: '<solve>x<sep>', text: 'y<eos>', weight: 0.5 };
  const [open, ...proved] = statements();
  const recipeState = {
    proved,
    examples: [
      { ...example, round: 4 },
      { ...example, round: 5 },
    ],
  };
  const played = await play({ recipeState });
  expect(played.groups.slice(1).map(({ task }) => task)).toEqual([open]);
  expect((played.plan.recipeState as StpState).examples.map(({ round }) => round)).toEqual([5, 7, 7]);
  expect(parts(played)[0]!.items[0]).toMatchObject({ weight: 0.5 });
});

test('expert iteration attempts the set alone, and random conjectures can be proved and belong to nobody', async () => {
  const alone = await play({ variant: 'expert-iteration' });
  expect(alone.proposals.samples).toEqual([]);
  for (const { task } of alone.groups) expect(statements()).toContain(task);
  const random = await play({ variant: 'random-conjectures' });
  expect(random.proposals.samples).toEqual([]);
  const [first, second] = random.groups;
  for (const group of [first!, second!]) {
    expect(statements()).not.toContain(group.task);
    expect(group.proposal).toBeNull();
    expect(shortestDerivation(group.task)).not.toBeNull();
  }
  expect(parts(random).map(({ role }) => role)).toEqual(['solver']);
});

test('the controls do not ask the checker: form is accepted, or a coin accepts what is well-formed', async () => {
  const { groups } = await play({ rewardFunction: 'format' });
  expect(groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards.reward))).toEqual(
    Array(16).fill(1),
  );
  expect([stp.rewards.format?.usesGold, stp.rewards.random?.usesGold]).toEqual([false, false]);
});
