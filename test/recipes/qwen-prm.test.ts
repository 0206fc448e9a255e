import { expect, test } from 'vitest';
import type { ClassificationPart } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { firstLost, prefixOf } from '../../protocols/continue-prefixes.ts';
import { shipped } from '../../recipes/index.ts';
import { labelBy } from '../../recipes/qwen-prm/labels.ts';
import { firstDoubted, firstErrorF1 } from '../../recipes/qwen-prm/learn.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';

const qwenPrm = shipped.find('qwen-prm');

/** 3 + 4 = 7, 7 - 9 = -2, -2 + 5 = 3, 3 + 1 = 4. */
const TASK = '3+4-9+5+1';
/** Line 2 is wrong, and line 3 makes up for it: the answer is right. */
const LUCKY = ['7', '-3', '3', '4'];
const SOUND = ['7', '-2', '3', '4'];

const recipe: Recipe = { ...qwenPrm, propose: async ({ round }) => admitTasks(round, [TASK]) };
const steps = (lines: readonly string[]) => lines.map((line) => `<step>${line}`).join('');
const solutionOf = (lines: readonly string[]) => `${steps(lines)}<answer>${lines.at(-1)}<eos>`;

/**
 * Two solutions. Of the lucky one nothing after its line 2 reaches 4 but what makes up for it: one continuation in eight does. The judge
 * finds its line 2, and nothing in the sound one.
 */
function write(prompt: string, i: number): string {
  if (prompt === `<solve>${TASK}<sep>`) return solutionOf([LUCKY, SOUND][i]!);
  if (prompt.startsWith('<judge>'))
    return prompt.includes('-3')
      ? '<step>7=<step>-2!-3<step>2!3<step>4=<wrong><eos>'
      : `${SOUND.map((line) => `<step>${line}=`).join('')}<right><eos>`;
  const prefix = prompt.slice(prompt.indexOf('<sep>') + '<sep>'.length);
  const rest = (lines: readonly string[]) => solutionOf(lines).slice(prefix.length);
  if (prefix === steps(LUCKY.slice(0, 2))) return i === 0 ? rest(LUCKY) : '<step>2<step>3<answer>3<eos>';
  return prefix.startsWith(steps(LUCKY.slice(0, 2))) ? rest(LUCKY) : rest(SOUND);
}

/** The classifier is sure of every line but the second of the first solution. */
const tools: NonNullable<WriteOptions['tools']> = {
  classes: (_set, sequences) =>
    Promise.resolve(sequences.map((_, i) => Float32Array.from(i === 1 ? [0.8, 0.2] : [0.1, 0.9], Math.log))),
};

const play = (variant?: string) =>
  playWritten(recipe, write, {
    tasks: 1,
    groupSize: 2,
    tools,
    ...(variant ? { variant } : {}),
  });

test('the first line after which nothing is right', () => {
  expect(firstLost([[true, false], [false, false], [true]])).toBe(2);
  expect(firstLost([[false, true]])).toBe(0);
  expect(prefixOf({ steps: ['7', '-2', '3'], answer: '3' }, 2)).toBe('<step>7<step>-2');
});

test('labels by either, and where both agree', () => {
  const rewards = { monteCarlo: 0, judged: 2 };
  expect(labelBy('monte-carlo', rewards)).toBe(0);
  expect(labelBy('judge', rewards)).toBe(2);
  expect(labelBy(undefined, rewards)).toBeNull();
  expect(labelBy(undefined, { monteCarlo: 2, judged: 2 })).toBe(2);
  expect(labelBy('judge', { monteCarlo: 2, judged: null })).toBeNull();
});

test('luck misleads continuations and not the judge; each continuation is recorded with its solution', async () => {
  const { groups } = await play();
  const [group] = groups;
  expect(group!.samples.map(({ rewards }) => rewards)).toEqual([
    { reward: 1, monteCarlo: 0, judged: 2 },
    { reward: 1, monteCarlo: 0, judged: 0 },
  ]);
  expect(group!.answersExact).toEqual([true, true]);
  expect(group!.solutionsExact).toEqual([false, true]);
  const continued = group!.judgments.filter(({ role }) => role === 'completer');
  // Eight of each of four prefixes of two solutions, each with an id of its own.
  expect(continued).toHaveLength(64);
  expect(new Set(continued.map(({ id }) => id)).size).toBe(64);
  expect(continued.map(({ of }) => of)).toEqual([
    ...Array.from({ length: 32 }, () => group!.samples[0]!.id),
    ...Array.from({ length: 32 }, () => group!.samples[1]!.id),
  ]);
});

const taught = (plan: Awaited<ReturnType<typeof play>>['plan']) =>
  (plan.updates[0]!.parts[0] as ClassificationPart).items.map(({ ids, label }) => [ids.length, label]);
/** Tokens of the prefixes: a tag and the characters of each line. */
const LENGTHS = [2, 5, 7, 9];

test('lines are taught up to the first error, of the solutions that are kept', async () => {
  const sound = LENGTHS.map((length) => [length, 1]);
  expect(taught((await play()).plan)).toEqual(sound);
  expect(taught((await play('monte-carlo')).plan)).toEqual([...sound, ...sound]);
  expect(taught((await play('judge')).plan)).toEqual([[2, 1], [5, 0], ...sound]);
});

test('what the model finds in fresh solutions', async () => {
  const { plan } = await play();
  expect(plan.figures).toMatchObject({
    // It finds line 2 of the lucky solution, and nothing in the sound one.
    firstErrorF1: 1,
    luckyFound: 1,
    // Continuations find no error, so that one of two halves is 0; the judge finds both.
    monteCarloF1: 0,
    judgeF1: 1,
    kept: 0.5,
    bestOfGroup: 1,
    oneOfGroup: 1,
  });
});

test('F1 of the first error: a harmonic mean over right and wrong solutions', () => {
  expect(firstDoubted([0.9, 0.4, 0.2])).toBe(2);
  expect(firstDoubted([0.9, 0.5])).toBe(0);
  const item = (exact: number, found: number | null) => ({ exact, found });
  // Found in one of three wrong ones (a later line is not it), silent in one of two right ones: 2 · (1/3 · 1/2) / (5/6).
  const items = [item(2, 2), item(2, 3), item(1, null), item(0, 0), item(0, 4)];
  expect(firstErrorF1(items)).toBeCloseTo(0.4);
  expect(firstErrorF1([item(0, 0)])).toBe(0);
});
