import { expect, test } from 'vitest';
import type { PolicyPart, SftPart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { examined } from '../../protocols/evaluate/detection.ts';
import {
  lineReward,
  parseRewrite,
  passedShare,
  rewritePrompt,
  solutionJudged,
} from '../../protocols/rewritten-lines.ts';
import { shipped } from '../../recipes/index.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { chainWith, flawed, rewrittenLine, slipAt, UNSEEN } from '../../worlds/chains/slips.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';
import { writeSolution } from '../../worlds/worked.ts';
import { solutionShown } from './shown-chain.ts';

const aprm = shipped.find('aprm');

/** 3 + 4 = 7, 7 - 9 = -2, -2 + 5 = 3, 3 + 1 = 4. */
const TASK = '3+4-9+5+1';
const RIGHT = ['7', '-2', '3', '4'];

test('what follows from a line is carried on', () => {
  expect(chainWith(TASK)).toEqual({ steps: RIGHT, answer: '4' });
  // 7, -3 instead of -2, -3 + 5 = 2, 2 + 1 = 3.
  expect(chainWith(TASK, 2, '-3')).toEqual({ steps: ['7', '-3', '2', '3'], answer: '3' });
});

test('each kind of slip is wrong in its own way', () => {
  const drawn = (kind: Parameters<typeof slipAt>[1], line: number) =>
    new Set(Array.from({ length: 60 }, (_, i) => slipAt(new Random(`slip/${i}`), kind, TASK, line)));
  expect([...drawn('carry', 1)].sort()).toEqual(['-3', '17'].sort());
  // 7 + 9 instead of 7 - 9.
  expect([...drawn('sign', 2)]).toEqual(['16']);
  // 7 - 4, 7 - 5, 7 - 1 instead of 7 - 9.
  expect([...drawn('copy', 2)].sort()).toEqual(['2', '3', '6']);
  // The last digit of -2 is another one; -0 is 0.
  expect([...drawn('digit', 2)].sort()).toEqual(['-1', '-3', '-4', '-5', '-6', '-7', '-8', '-9', '0']);
  // Whoever adds 0 may take it away as well.
  expect(slipAt(new Random('x'), 'sign', '3+0-9+5+1', 1)).toBeNull();
});

test('the examined solutions have one wrong line, or none', () => {
  const tasks = plainProofs.heldOut();
  const items = examined(tasks);
  expect(items).toHaveLength(tasks.length * 4);
  for (const { task, kind, solution } of items) {
    const { steps, right } = plainProofs.exactJudgment(task, solution);
    expect(steps.filter((follows) => !follows)).toHaveLength(kind === 'right' ? 0 : 1);
    expect(right).toBe(kind === 'right');
  }
  for (const kind of UNSEEN)
    expect(plainProofs.exactJudgment(TASK, flawed(new Random('one'), kind, TASK)).right).toBe(false);
});

const AT = rewrittenLine(TASK);
/** A solution whose rewritten line says this. */
const rewritten = (said: string) => chainWith(TASK, AT, said);

test('a generator goes on with what is right, and its line ends at a tag', () => {
  expect(rewritePrompt(TASK)).toBe(
    `<solve>${TASK}<sep>${RIGHT.slice(0, AT - 1)
      .map((line) => `<step>${line}`)
      .join('')}<step>`,
  );
  expect(parseRewrite(TASK, '12<step>')).toEqual(ok(rewritten('12')));
  expect(parseRewrite(TASK, '12<answer>')).toEqual(ok(rewritten('12')));
  expect(parseRewrite(TASK, '12')).toEqual(invalid('off-grammar'));
  expect(parseRewrite(TASK, '1-2<step>')).toEqual(invalid('off-grammar'));
  const about = writeSolution(rewritten('12'));
  expect(solutionJudged({ id: 'v', about })).toEqual(rewritten('12'));
  expect(solutionShown(plainProofs.judgePrompt(TASK, rewritten('12')))).toEqual(rewritten('12'));
  expect(() => solutionJudged({ id: 'v' })).toThrow('verdict v is about no solution');
});

test('a line is paid where it is wrong and passes, and pays where it is right or unreadable', () => {
  expect(lineReward(true, 0.75)).toBe(0.75);
  expect(lineReward(true, 0)).toBe(0);
  expect(lineReward(false, 1)).toBe(-1);
  expect(lineReward(null, null)).toBe(-1);
  // Wrong, and no verdict on it can be read: missing.
  expect(lineReward(true, null)).toBeNull();
  const passes = ok({ steps: [true, true, true, true], right: true });
  const caught = ok({ steps: RIGHT.map((_, i) => i !== AT - 1), right: false });
  expect(passedShare(TASK, [passes, caught, invalid('off-grammar'), caught])).toBeCloseTo(1 / 3);
  expect(passedShare(TASK, [invalid('off-grammar')])).toBeNull();
});

const recipe: Recipe = { ...aprm, propose: async ({ round }) => admitTasks(round, [TASK]) };
const WRONG = String(Number(RIGHT[AT - 1]) + 1);
const LINES = [`${WRONG}<step>`, `${RIGHT[AT - 1]}<step>`, 'x<step>'];

const checks = (steps: readonly string[], found: readonly string[]) =>
  `${steps.map((step, i) => `<step>${found[i]}${found[i] === step ? '=' : `!${step}`}`).join('')}${
    steps.every((step, i) => step === found[i]) ? '<right>' : '<wrong>'
  }<eos>`;

/**
 * The generator writes a wrong line, the right one and none. Of three verdicts on each solution the first copies it, the second does its sums,
 * and the third is no verdict.
 */
function write(prompt: string, i: number): string {
  if (prompt.startsWith('<solve>')) return LINES[i]!;
  const { steps } = solutionShown(prompt);
  const sums = steps.map((_, at) => (at === AT - 1 ? RIGHT[at]! : steps[at]!));
  return [checks(steps, steps), checks(steps, sums), '<right><eos>'][i]!;
}
const play = (more: WriteOptions = {}) => playWritten(recipe, write, { tasks: 1, groupSize: 3, ...more });

test('a round: the right solution and each line that can be read are judged, and both sides are paid', async () => {
  const { groups, plan } = await play();
  const [group] = groups;
  expect(group!.samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'off-grammar']);
  // One of the two readable verdicts lets the wrong line pass.
  expect(group!.samples.map(({ rewards }) => rewards.reward)).toEqual([0.5, -1, -1]);
  expect(group!.solutionsExact).toEqual([false, true, null]);
  // The right solution, the wrong one, and the right one once more, three verdicts each, with ids of their own.
  expect(group!.judgments).toHaveLength(9);
  expect(new Set(group!.judgments.map(({ id }) => id)).size).toBe(9);
  expect(group!.judgments.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0, 0, 1, 0, 1, 1, 0]);
  expect(plan.figures).toEqual({ corrupted: 1 / 3, distance: 1, fooled: 0.5, falseAlarms: 0 });
});

const part = ({ parts }: { parts: readonly unknown[] }) => parts[0] as PolicyPart;

test('both players are trained at once, by optimistic steps, each against its own prompt', async () => {
  const { plan } = await play();
  const [verifier, generator] = plan.updates;
  expect(plan.updates.map(({ set, optimistic }) => [set, optimistic])).toEqual([
    ['main', true],
    ['generator', true],
  ]);
  // 1/2, -1, -1: mean -1/2, deviation √(1/2 · (1 + 1/4 + 1/4)) = √3/2.
  const spread = Math.sqrt(3) / 2;
  expect(part(generator!).items.map(({ advantage }) => advantage)).toEqual(
    [1, -0.5, -0.5].map((a) => expect.closeTo(a / spread, 4)),
  );
  // The right solution was shown twice, so that six verdicts share a prompt: 1, 1, 0, 1, 1, 0. Mean 2/3, deviation √(6 · 2/9 / 5).
  const right = Math.sqrt((6 * 2) / 9 / 5);
  const wrong = Math.sqrt(1 / 3);
  const advantages = [1 / 3, 1 / 3, -2 / 3].map((a) => a / right);
  expect(part(verifier!).items.map(({ advantage }) => advantage)).toEqual(
    [...advantages, ...[-1 / 3, 2 / 3, -1 / 3].map((a) => a / wrong), ...advantages].map((a) =>
      expect.closeTo(a, 4),
    ),
  );
  for (const update of plan.updates)
    expect(part(update)).toMatchObject({
      kl: { weight: 0.01, reference: { set: update.set, version: 0 } },
      entropy: 0.01,
    });
});

test('the variants leave out what they say', async () => {
  const plain = (await play({ variant: 'no-optimism' })).plan;
  expect(plain.updates.map(({ optimistic }) => optimistic)).toEqual([false, false]);
  const free = (await play({ variant: 'unregularised' })).plan;
  for (const update of free.updates) expect(Object.keys(part(update))).not.toContain('kl');
  const imitation = (await play({ variant: 'imitation' })).plan;
  const [verifier, generator] = imitation.updates;
  // Five of nine verdicts mark every line as it is; the generator is reinforced as ever.
  expect(verifier!.parts[0]).toMatchObject({ kind: 'sft', role: 'judge' });
  expect((verifier!.parts[0] as SftPart).items).toHaveLength(5);
  expect(generator!.parts[0]).toMatchObject({ kind: 'policy', role: 'generator' });
  const fixed = await play({ variant: 'static' });
  expect(fixed.plan.updates.map(({ set }) => set)).toEqual(['main']);
  // Three random last digits in the place of what the generator wrote, and the right solution.
  const shown = fixed.groups[0]!.judgments.map(({ prompt }) => prompt.join());
  expect(fixed.groups[0]!.judgments).toHaveLength(12);
  expect(new Set(shown.slice(3)).has(shown[0]!)).toBe(false);
});

test('the controls pay form, or by a coin, and ask no checker', async () => {
  const { groups } = await play({ rewardFunction: 'format' });
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0]);
  expect(groups[0]!.judgments.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0, 1, 1, 0, 1, 1, 0]);
  expect([aprm.rewards.format?.usesGold, aprm.rewards.random?.usesGold]).toEqual([false, false]);
});
