import { expect, test } from 'vitest';
import type { DistillationPart, PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';

const srpoRoute = shipped.find('srpo-route');

/** All totals of a task and its answer, off by one from total number `from` on. */
function worked(task: string, from = 9): string {
  const totals = runningTotals(task).map((total, i) => (i >= from ? total + 1 : total));
  return `${totals.map((total) => `<step>${total}`).join('')}<answer>${totals.at(-1)}`;
}
const terse = (task: string) => `<answer>${runningTotals(task).at(-1)}`;

type Attempts = (task: string) => readonly string[];
/** Wrong from the first total on, right, right without steps, and no solution. */
const mixed: Attempts = (task) => [worked(task, 0), worked(task), terse(task), 'x'];
/** No attempt is right, and the last three are no solutions. */
const lost: Attempts = (task) => [worked(task, 0), 'x', 'x', 'x'];

async function play(write: Attempts, more: WriteOptions = {}) {
  const { plan, groups, tokenizer } = await playWritten(
    srpoRoute,
    (prompt, i) => `${write(prompt.slice('<solve>'.length, -'<sep>'.length))[i]}<eos>`,
    { tasks: 1, groupSize: 4, ...more },
  );
  const parts = plan.updates[0]?.parts ?? [];
  const policy = parts.find((part): part is PolicyPart => part.kind === 'policy');
  const teacher = parts.find((part): part is DistillationPart => part.kind === 'distillation');
  const text = (ids: readonly number[]) => tokenizer.decode([...ids]).replace('<eos>', '');
  const { task, samples } = groups[0]!;
  return {
    plan,
    policy,
    teacher,
    task,
    /** The number of tokens of each attempt. */
    lengths: samples.map(({ ids }) => ids.length),
    rewarded: policy?.items.map(({ sample, advantage }) => [text(sample.ids), advantage]) ?? [],
    corrected: teacher?.items.map(({ ids, teacherPrompt }) => [text(ids), text(teacherPrompt!)]) ?? [],
  };
}

/** Rewards 0, 1, 1, 0 have mean 1/2 and deviation 1/√3. */
const plus = expect.closeTo(Math.sqrt(3) / 2, 4);
const minus = expect.closeTo(-Math.sqrt(3) / 2, 4);
const told = (task: string, aid: string) => `<solve>${task}<sep>${aid}<sep>`;
const share = (lengths: readonly number[], of: readonly number[]) => {
  const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0);
  return expect.closeTo(sum(of.map((i) => lengths[i]!)) / sum(lengths), 6);
};

test('right attempts go to rewards, wrong ones to the teacher, each by its share of the tokens', async () => {
  const { policy, teacher, rewarded, corrected, lengths, task, plan } = await play(mixed);
  expect(rewarded).toEqual([
    [worked(task), plus],
    [terse(task), plus],
  ]);
  expect(corrected).toEqual([
    [worked(task, 0), told(task, worked(task))],
    ['x', told(task, worked(task))],
  ]);
  expect(policy!.weight).toEqual(share(lengths, [1, 2]));
  expect(teacher).toMatchObject({
    role: 'solver',
    weight: share(lengths, [0, 3]),
    teacher: { set: 'teacher', version: 0 },
    divergence: { kind: 'jensen-shannon', beta: 0.5 },
    entropyBeta: 1,
  });
  expect(plan.updates).toHaveLength(1);
  expect(plan.figures).toEqual({ corrected: 1 / 2 });
});

test('a wrong attempt about which there is nothing to tell stays with rewards', async () => {
  const { rewarded, corrected, task, policy, lengths } = await play(lost);
  // Nobody is right: the checker corrects the one well-formed attempt, and a group of equal rewards has no advantages.
  const begun = runningTotals(task).length > 1 ? `<step>${runningTotals(task)[0]}` : worked(task);
  expect(corrected).toEqual([[worked(task, 0), told(task, begun)]]);
  expect(rewarded).toEqual(Array(3).fill(['x', 0]));
  expect(policy!.weight).toEqual(share(lengths, [1, 2, 3]));
  // Where form is paid the checker is not heard, and the one well-formed attempt has no sibling that was paid.
  const form = await play(lost, { rewardFunction: 'format' });
  expect(form.corrected).toEqual(Array(3).fill(['x', told(form.task, worked(form.task, 0))]));
  expect(form.rewarded).toEqual([[worked(form.task, 0), expect.closeTo(1.5, 4)]]);
});

test('variants: rewards or the teacher alone, tokens that count alike, no correction, and the inverse route', async () => {
  const grpo = await play(mixed, { variant: 'grpo' });
  const all = (task: string) => mixed(task).map((text, i) => [text, i === 1 || i === 2 ? plus : minus]);
  expect(grpo.rewarded).toEqual(all(grpo.task));
  expect([grpo.policy!.weight, grpo.teacher]).toEqual([1, undefined]);

  const sdpo = await play(mixed, { variant: 'sdpo' });
  expect(sdpo.corrected.map(([text]) => text)).toEqual(mixed(sdpo.task));
  // The first right attempt is told the other one.
  expect(sdpo.corrected[1]![1]).toBe(told(sdpo.task, terse(sdpo.task)));
  expect([sdpo.policy, sdpo.teacher!.weight, sdpo.teacher!.entropyBeta]).toEqual([undefined, 1, undefined]);

  const alike = await play(mixed, { variant: 'no-entropy-weight' });
  expect(alike.rewarded.map(([text]) => text)).toEqual(mixed(alike.task).slice(1, 3));
  expect(alike.corrected.map(([text]) => text)).toEqual([worked(alike.task, 0), 'x']);
  expect(alike.teacher!.entropyBeta).toBeUndefined();

  const uncorrected = await play(mixed, { variant: 'no-teacher' });
  expect(uncorrected.rewarded.map(([text]) => text)).toEqual(mixed(uncorrected.task).slice(1, 3));
  expect(uncorrected.policy!.weight).toEqual(share(uncorrected.lengths, [1, 2]));
  expect(uncorrected.teacher).toBeUndefined();

  const inverse = await play(mixed, { variant: 'inverse-route' });
  const { task } = inverse;
  expect(inverse.rewarded).toEqual([
    [worked(task, 0), minus],
    ['x', minus],
  ]);
  expect(inverse.corrected).toEqual([
    [worked(task), told(task, terse(task))],
    [terse(task), told(task, worked(task))],
  ]);
  expect(inverse.teacher!.entropyBeta).toBe(1);
});
