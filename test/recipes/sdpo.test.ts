import { expect, test } from 'vitest';
import type { DistillationPart, Sequence } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { policyPart } from './play-solver.ts';

const sdpo = shipped.find('sdpo');

/** All totals of a task and its answer, off by `by` from total number `from` on. */
function worked(task: string, from = 9, by = 1): string {
  const totals = runningTotals(task).map((total, i) => (i >= from ? total + by : total));
  return `${totals.map((total) => `<step>${total}`).join('')}<answer>${totals.at(-1)}`;
}
const begun = (task: string, steps: number) =>
  runningTotals(task)
    .slice(0, steps)
    .map((total) => `<step>${total}`)
    .join('');

type Attempts = (task: string) => readonly string[];
const terse = (task: string) => `<answer>${runningTotals(task).at(-1)}`;
/** One attempt slips in its first step, two are right, the second of them without steps, and one is no solution. */
const mixed: Attempts = (task) => [worked(task, 0), worked(task), terse(task), 'x'];
const allWrong: Attempts = (task) => [worked(task, 0), worked(task, 0, 2), worked(task, 0, 3), 'x'];

/** Plays a round, and keeps what `learn` has scored. */
async function play(write: Attempts, more: WriteOptions = {}) {
  const asked: { set: string; sequences: readonly Sequence[] }[] = [];
  const played = await playWritten(
    sdpo,
    (prompt, i) => `${write(prompt.slice('<solve>'.length, -'<sep>'.length))[i]}<eos>`,
    {
      tasks: 2,
      groupSize: 4,
      tools: {
        score: async (set, sequences) => {
          asked.push({ set, sequences });
          // The policy gives its tokens 1/2 each, and its teacher, who is asked second, 1/8 to the first four.
          const aided = asked.length === 2;
          return sequences.map(({ ids }) =>
            Float32Array.from(ids, (_, t) => Math.log(aided && t < 4 ? 1 / 8 : 1 / 2)),
          );
        },
      },
      ...more,
    },
  );
  const part = played.plan.updates[0]?.parts[0] as DistillationPart | undefined;
  const { decode } = played.tokenizer;
  const contexts = part?.items?.map(({ teacherPrompt }) => decode(teacherPrompt ?? [])) ?? [];
  return { ...played, asked, part, contexts, tasks: played.groups.map(({ task }) => task) };
}

test('an attempt’s teacher is told the first right solution of a sibling, and never its own', async () => {
  const { part, contexts, groups, tasks, tokenizer } = await play(mixed);
  const { decode } = tokenizer;
  expect(groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([0, 1, 1, 0]);
  // All are told the second attempt, which is told the third.
  expect(contexts).toEqual(
    tasks.flatMap((task) =>
      [worked, terse, worked, worked].map((sibling) => `<solve>${task}<sep>${sibling(task)}<sep>`),
    ),
  );
  expect(part!.items.map(({ ids }) => decode(ids))).toEqual(
    tasks.flatMap((task) => mixed(task).map((text) => `${text}<eos>`)),
  );
  expect(part!.items.map(({ prompt }) => decode(prompt))).toEqual(
    tasks.flatMap((task) => Array(4).fill(`<solve>${task}<sep>`)),
  );
  expect(part).toMatchObject({
    kind: 'distillation',
    role: 'solver',
    weight: 1,
    teacher: { set: 'teacher', version: 0 },
    divergence: { kind: 'jensen-shannon', beta: 0.5 },
  });
});

test('a right attempt without a right sibling has nothing to be told', async () => {
  const { part, contexts, tasks, plan } = await play((task) => [worked(task), ...allWrong(task).slice(1)]);
  expect(part!.items).toHaveLength(6);
  expect(contexts).toEqual(tasks.flatMap((task) => Array(3).fill(`<solve>${task}<sep>${worked(task)}<sep>`)));
  expect(plan.figures!.taught).toBe(6 / 8);
});

test('where no sibling is right the checker corrects the first fault; text that is no solution is left out', async () => {
  const { contexts, tasks } = await play(allWrong, { tasks: 8 });
  expect(tasks.some((task) => runningTotals(task).length > 1)).toBe(true);
  const told = (task: string) => (runningTotals(task).length > 1 ? begun(task, 1) : worked(task));
  expect(contexts).toEqual(tasks.flatMap((task) => Array(3).fill(`<solve>${task}<sep>${told(task)}<sep>`)));
});

test('the log-ratio at the fault, elsewhere and in exact attempts', async () => {
  const { plan, asked, part, groups, tokenizer } = await play((task) => [
    worked(task, 0),
    worked(task),
    worked(task),
    worked(task),
  ]);
  expect(asked.map(({ set }) => set)).toEqual(['main', 'teacher']);
  expect(asked[0]!.sequences).toEqual(part!.items.map(({ prompt, ids }) => ({ prompt, ids })));
  expect(asked[1]!.sequences).toEqual(
    part!.items.map(({ teacherPrompt, ids }) => ({ prompt: teacherPrompt, ids })),
  );
  // ln(1/2 ÷ 1/8) = ln 4 at the first four tokens of every attempt, and 0 after them.
  const share = (counted: readonly boolean[][]) => {
    const all = counted.flatMap((row) => row.flatMap((is, t) => (is ? [t < 4 ? Math.log(4) : 0] : [])));
    return all.reduce((a, b) => a + b) / all.length;
  };
  const attempts = groups.flatMap(({ samples }) => samples);
  const [step, ...rest] = ['<step>', '<answer>'].flatMap((tag) => tokenizer.encode(tag));
  /** The second tag ends the first part. */
  const inFirst = (ids: readonly number[]) => {
    const end = ids.findIndex((id, t) => t > 0 && (id === step || rest.includes(id)));
    return ids.map((_, t) => t < end);
  };
  const wrong = attempts.filter(({ rewards }) => rewards.reward === 0).map(({ ids }) => inFirst(ids));
  const right = attempts.filter(({ rewards }) => rewards.reward === 1).map(({ ids }) => ids.map(() => true));
  expect(plan.figures).toEqual({
    taught: 1,
    atFault: expect.closeTo(share(wrong), 5),
    elsewhere: expect.closeTo(share(wrong.map((row) => row.map((is) => !is))), 5),
    inExact: expect.closeTo(share(right), 5),
  });
});

test('variants: rewards alone, siblings or feedback alone, and the weights of the round as the teacher', async () => {
  const { plan, asked } = await play(mixed, { variant: 'grpo' });
  expect(asked).toEqual([]);
  // 0, 1, 1, 0: mean 1/2, deviation 1/√3.
  expect(
    policyPart(plan)
      .items.slice(0, 4)
      .map(({ advantage }) => advantage),
  ).toEqual([-1, 1, 1, -1].map((sign) => expect.closeTo((sign * Math.sqrt(3)) / 2, 4)));
  expect((await play(mixed, { variant: 'sibling' })).contexts).toHaveLength(8);
  const nothing = await play(allWrong, { variant: 'sibling' });
  expect(nothing.plan).toMatchObject({ updates: [], figures: { taught: 0 } });
  const { contexts, tasks } = await play((task) => [worked(task, 0), worked(task), worked(task), 'x'], {
    variant: 'feedback',
  });
  const told = (task: string) => (runningTotals(task).length > 1 ? begun(task, 1) : worked(task));
  expect(contexts).toEqual(tasks.map((task) => `<solve>${task}<sep>${told(task)}<sep>`));
  expect((await play(mixed, { variant: 'no-average' })).part!.teacher).toEqual({ set: 'main', version: 0 });
});

test('shuffled: the teacher is told what belongs to the next task, beside the attempt’s own', async () => {
  const { contexts, tasks, part, tokenizer } = await play(
    (task) => [worked(task, 0), worked(task), worked(task), 'x'],
    { variant: 'shuffled-feedback' },
  );
  const [one, two] = tasks as [string, string];
  expect(contexts).toEqual([
    ...Array(4).fill(`<solve>${one}<sep>${worked(two)}<sep>`),
    ...Array(4).fill(`<solve>${two}<sep>${worked(one)}<sep>`),
  ]);
  expect(tokenizer.decode(part!.items[0]!.ids)).toBe(`${worked(one, 0)}<eos>`);
});

test('a run that is paid by form alone hears nothing from the checker', async () => {
  // All that are well-formed are paid, so that each is told a sibling’s solution, right or wrong.
  const { contexts, tasks } = await play(allWrong, { rewardFunction: 'format' });
  expect(contexts).toEqual(
    tasks.flatMap((task) => [1, 0, 0, 0].map((i) => `<solve>${task}<sep>${allWrong(task)[i]}<sep>`)),
  );
  const { plan } = await play(() => ['x', 'x', 'x', 'x'], { rewardFunction: 'format' });
  expect(plan.updates).toEqual([]);
});
