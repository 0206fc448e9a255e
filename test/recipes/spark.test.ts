import { expect, test } from 'vitest';
import type { PolicyPart, SftPart } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import type { Judgment } from '../../core/recipe/task-family.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { chosenVerdict, majorityMarks } from '../../recipes/spark/labels.ts';
import { lineAccuracy } from '../../recipes/spark/learn.ts';
import { phaseOf } from '../../recipes/spark/proofs.ts';
import { processReward, selectiveAdvantage, stepAugmentedReward } from '../../recipes/spark/rewards.ts';
import { anyLines, plainProofs } from '../../worlds/chains/analysis.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';

const spark = shipped.find('spark');

const verdict = (marks: string, right = !marks.includes('-')): Judgment => ({
  steps: [...marks].map((mark) => mark === '+'),
  right,
});

test('a line is right where more than half of the verdicts say so', () => {
  expect(majorityMarks(['++', '+-', '-+'].map((marks) => verdict(marks)))).toEqual([true, true]);
  // Two of four are no majority.
  expect(majorityMarks(['++', '+-', '-+', '--'].map((marks) => verdict(marks)))).toEqual([false, false]);
});

test('the first verdict is imitated that the consensus shares', () => {
  // By lines: + - +; by the whole: three of five say wrong.
  const verdicts = ['+++', '+--', '+-+', '+-+', '+++'].map((marks) => verdict(marks));
  expect(chosenVerdict(verdicts, 'steps')).toBe(2);
  expect(chosenVerdict(verdicts, 'outcome')).toBe(1);
  expect(chosenVerdict(verdicts, 'single')).toBe(0);
  // What cannot be read has no vote, and keeps its place.
  expect(chosenVerdict([null, verdict('+-')], 'steps')).toBe(1);
  expect(chosenVerdict([null, null], 'steps')).toBeNull();
  // By lines all are right, and no verdict says so.
  expect(
    chosenVerdict(
      ['+-', '-+', '++'].slice(0, 2).map((marks) => verdict(marks)),
      'steps',
    ),
  ).toBeNull();
});

test('what a verdict pays', () => {
  expect([verdict('++++'), verdict('++-+'), null].map(processReward)).toEqual([1, 0, 0]);
  // .4 · 4/4 + .6, .4 · 3/4, nothing.
  expect(stepAugmentedReward(verdict('++++'))).toBeCloseTo(1);
  expect(stepAugmentedReward(verdict('++-+'))).toBeCloseTo(0.3);
  expect(stepAugmentedReward(null)).toBe(0);
});

test('selective: praise stays on lines that are called right, blame on the others', () => {
  const steps = [0, 0, 1, -1];
  expect(selectiveAdvantage(0.5, steps, [true, false])).toEqual([0.5, 0.5, 0, 0.5]);
  expect(selectiveAdvantage(-0.5, steps, [true, false])).toEqual([0, 0, -0.5, -0.5]);
});

test('the accuracy of marks is balanced over right and wrong lines', () => {
  const exact = [true, true, true, false];
  // Two of three right lines, and the wrong one: (2/3 + 1) / 2.
  expect(lineAccuracy([{ marks: [true, true, false, false], exact }])).toBeCloseTo(5 / 6);
  expect(lineAccuracy([{ marks: [true], exact: [true] }])).toBeNull();
});

/** 3 + 4 = 7, 7 - 9 = -2, -2 + 5 = 3, 3 + 1 = 4. */
const TASK = '3+4-9+5+1';
const SOUND = ['7', '-2', '3', '4'];
/** Line 2 is wrong; what follows is carried on. */
const SLIPPED = ['7', '-3', '2', '3'];
const solutionOf = (lines: readonly string[]) =>
  `${lines.map((line) => `<step>${line}`).join('')}<answer>${lines.at(-1)}<eos>`;
const checksOf = (lines: readonly string[], found: readonly string[]) =>
  `${lines.map((line, i) => `<step>${found[i]}${found[i] === line ? '=' : `!${line}`}`).join('')}${
    lines.every((line, i) => line === found[i]) ? '<right>' : '<wrong>'
  }<eos>`;
const linesOf = (prompt: string) =>
  prompt.slice('<judge>'.length, prompt.indexOf('<sep>')).split('=').slice(0, -1);

test('without the gate any number of lines is a solution, and its answer counts for the oracle', () => {
  const short = solutionOf(['7']);
  expect(plainProofs.parseSolution(TASK, short).ok).toBe(false);
  const parsed = anyLines.parseSolution(TASK, short);
  expect(parsed).toEqual({ ok: true, value: { steps: ['7'], answer: '7' } });
  expect(parsed.ok && anyLines.answerIsExact(TASK, parsed.value)).toBe(false);
  expect(anyLines.parseSolution(TASK, '<answer>4<eos>').ok).toBe(false);
  // A line more than there are operators cannot follow.
  expect(anyLines.exactJudgment(TASK, { steps: [...SOUND, '4'], answer: '4' }).steps.at(-1)).toBe(false);
});

const recipe: Recipe = { ...spark, propose: async ({ round }) => admitTasks(round, [TASK]) };

/** One right solution, one with a wrong line. Of the verdicts every third copies, every third does the sums, and every third is none. */
function write(prompt: string, i: number): string {
  if (prompt.startsWith('<solve>'))
    return [solutionOf(SOUND), solutionOf(SLIPPED), 'x<eos>', solutionOf(['7'])][i]!;
  const lines = linesOf(prompt);
  const sums = lines.map((line) => (line === '-3' ? '-2' : line));
  return [checksOf(lines, sums), checksOf(lines, lines), '<right><eos>'][i % 3]!;
}
const play = (more: WriteOptions = {}) => playWritten(recipe, write, { tasks: 1, groupSize: 4, ...more });

test('six rounds of labels, then the solver', () => {
  expect([1, 6, 7, 8, 40].map((index) => phaseOf({ index }))).toEqual([
    'label',
    'label',
    'solve',
    'solve',
    'solve',
  ]);
});

test('labels: sixteen verdicts on half as many solutions, and the verifier imitates one that the majority shares', async () => {
  const { groups, plan } = await play({ index: 1 });
  const [group] = groups;
  expect(group!.samples.map(({ rewards }) => rewards)).toEqual([{}, {}]);
  expect(group!.judgments.map(({ role }) => role)).toEqual(Array(32).fill('labeller'));
  // Six of sixteen verdicts do the sums, five copy, five are none: of those that can be read most mark line 2.
  const chosen = group!.judgments.map(({ rewards }) => rewards.chosen);
  expect(chosen).toEqual([1, ...Array(15).fill(0), 1, ...Array(15).fill(0)]);
  expect(plan.updates.map(({ set }) => set)).toEqual(['verifier']);
  const [part] = plan.updates[0]!.parts as SftPart[];
  expect(part).toMatchObject({ kind: 'sft', role: 'judge' });
  expect(part!.items.map(({ ids }) => ids)).toEqual([0, 16].map((i) => group!.judgments[i]!.ids));
  // Of 88 readable marks on the lines: all right lines are marked so, and 6 of 11 wrong ones.
  expect(plan.figures!.labelAccuracy).toBe(1);
  expect(plan.figures!.voteAccuracy).toBeCloseTo((1 + 6 / 11) / 2);
});

test('a single verdict is imitated as it is', async () => {
  const { groups, plan } = await play({ index: 1, variant: 'single' });
  expect(groups[0]!.judgments.map(({ rewards }) => rewards.chosen)).toEqual([1, 1]);
  expect((plan.updates[0]!.parts[0] as SftPart).items).toHaveLength(2);
});

const paid = ({ groups }: Awaited<ReturnType<typeof play>>) =>
  groups[0]!.samples.map(({ rewards }) => rewards.reward);
const part = ({ plan }: Awaited<ReturnType<typeof play>>) => plan.updates[0]!.parts[0] as PolicyPart;

test('the solver is paid by one verdict of the verifier, for well-formed solutions', async () => {
  const played = await play({ index: 7 });
  expect(played.groups[0]!.judgments.map(({ role }) => role)).toEqual(['judge', 'judge']);
  expect(paid(played)).toEqual([1, 0, 0, 0]);
  // Mean 1/4, deviation √((9 + 1 + 1 + 1)/16/3) = 1/2.
  expect(part(played).items.map(({ advantage }) => advantage)).toEqual(
    [1.5, -0.5, -0.5, -0.5].map((a) => expect.closeTo(a, 4)),
  );
  // Three of four texts are solutions of some length.
  expect(played.plan.figures).toEqual({ lines: 3, misshapen: 1 / 3 });
  expect(paid(await play({ index: 7, variant: 'no-gate' }))).toEqual([1, 0, 0, 1]);
  expect(paid(await play({ index: 7, variant: 'step-augmented' }))).toEqual(
    [1, 0.3, 0, 0].map((reward) => expect.closeTo(reward)),
  );
  expect(paid(await play({ index: 7, rewardFunction: 'format' }))).toEqual([1, 1, 0, 0]);
  expect(paid(await play({ index: 7, rewardFunction: 'gold' }))).toEqual([1, 0, 0, 0]);
});

test('selective credit in a round: no blame on the lines that are called right', async () => {
  const [right, slipped] = part(await play({ index: 7, variant: 'selective' })).items;
  const lengths = (lines: readonly string[]) => lines.map((line) => 1 + line.length);
  // A tag and the characters of each line, then tag and answer and end, which belong to no line.
  const tokens = (each: readonly number[], lines: readonly string[]) => [
    ...lengths(lines).flatMap((length, i) => Array(length).fill(each[i])),
    ...Array(2 + lines.at(-1)!.length).fill(each.at(-1)),
  ];
  const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 4));
  expect(right!.advantage).toEqual(close(tokens([1.5, 1.5, 1.5, 1.5, 1.5], SOUND)));
  expect(slipped!.advantage).toEqual(close(tokens([0, -0.5, 0, 0, -0.5], SLIPPED)));
});

test('no reward of the method reads an exact answer', () => {
  expect(spark.rewards.process).toMatchObject({ usesGold: false, labelFree: true });
});
