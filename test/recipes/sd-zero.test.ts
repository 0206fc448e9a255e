import { expect, test } from 'vitest';
import type { DistillationPart, SftPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { policyPart } from './play-solver.ts';

const sdZero = shipped.find('sd-zero');

/** All totals of a task and its answer, off by `by`. */
function worked(task: string, by = 0): string {
  const totals = runningTotals(task).map((total) => total + by);
  return `${totals.map((total) => `<step>${total}`).join('')}<answer>${totals.at(-1)}`;
}
const solve = (task: string, aid = '') => `<solve>${task}<sep>${aid && `${aid}<sep>`}`;

/** Attempts are right, off by one, and no solution; revisions right, off by two, and so on, whatever they revise. */
async function play(more: WriteOptions = {}) {
  let revised = 0;
  const scored: { set: string; version: number | undefined }[] = [];
  const { plan, groups, tokenizer } = await playWritten(
    sdZero,
    (prompt, i) => {
      const [task, aid] = prompt.slice('<solve>'.length).split('<sep>') as [string, string];
      const attempts = [worked(task), worked(task, 1), 'x'];
      return `${aid ? worked(task, (revised++ % 2) * 2) : attempts[i % 3]!}<eos>`;
    },
    {
      tasks: 1,
      groupSize: 6,
      tools: {
        score: async (set, sequences, version) => {
          scored.push({ set, version });
          return sequences.map(({ ids }) => Float32Array.from(ids, () => -1));
        },
      },
      ...more,
    },
  );
  const text = (ids: readonly number[]) => tokenizer.decode([...ids]);
  const [group] = groups;
  return {
    plan,
    scored,
    task: group!.task,
    parts: plan.updates[0]?.parts ?? [],
    /** The task that each sample of a group was asked, by the group’s own. */
    tasks: groups.map(({ task, samples }) => [
      task,
      samples.map(({ prompt }) => /<solve>(.*?)<sep>/.exec(text(prompt))![1]),
    ]),
    asked: group!.samples.map(({ role, prompt }) => [role, text(prompt)]),
    pairs: (items: SftPart['items']) => items.map(({ prompt, ids }) => [text(prompt), text(ids)]),
    contexts: (part: DistillationPart) =>
      part.items.map(({ ids, teacherPrompt }) => [text(ids), text(teacherPrompt!)]),
  };
}

test('first phase: half of a group revise the others, told whether they are right; right revisions are imitated, with and without the attempt', async () => {
  const { asked, task, parts, pairs, plan } = await play();
  const told = [`${worked(task)}<right>`, `${worked(task, 1)}<wrong>`, 'x<wrong>'];
  expect(asked).toEqual([
    ...Array(3).fill(['solver', solve(task)]),
    ...told.map((aid) => ['reviser', solve(task, aid)]),
  ]);
  // The first and the third revision are right.
  expect(parts).toMatchObject([
    { kind: 'sft', role: 'reviser', weight: 1 },
    { kind: 'sft', role: 'solver', weight: 1 },
  ]);
  const right = `${worked(task)}<eos>`;
  expect(pairs((parts[0] as SftPart).items)).toEqual([
    [solve(task, told[0]), right],
    [solve(task, told[2]), right],
  ]);
  expect(pairs((parts[1] as SftPart).items)).toEqual([
    [solve(task), right],
    [solve(task), right],
  ]);
  const { tasks } = await play({ tasks: 2 });
  expect(tasks).toEqual(tasks.map(([own]) => [own, Array(6).fill(own)]));
  expect(plan.figures).toEqual({ attemptsExact: 1 / 3, revisionsExact: 2 / 3 });
});

test('second phase: the reviser reads every attempt and the bit', async () => {
  const recipeState = { teacher: 0, version: 8 };
  const { asked, task, parts, contexts, scored } = await play({ index: 12, rounds: 40, recipeState });
  expect(asked).toEqual(Array(6).fill(['solver', solve(task)]));
  const attempts = [
    [worked(task), '<right>'],
    [worked(task, 1), '<wrong>'],
    ['x', '<wrong>'],
  ];
  expect(contexts(parts[0] as DistillationPart)).toEqual(
    [...attempts, ...attempts].map(([text, bit]) => [`${text}<eos>`, solve(task, `${text}${bit}`)]),
  );
  expect(parts).toMatchObject([
    {
      kind: 'distillation',
      role: 'solver',
      weight: 1,
      teacher: { set: 'main', version: 8 },
      divergence: { kind: 'reverse-kl' },
    },
  ]);
  expect(scored).toEqual([
    { set: 'main', version: undefined },
    { set: 'main', version: 8 },
  ]);
});

test('a teacher has the weights that its first round begins with, also where a round failed and made no version', async () => {
  /** The teacher’s versions in rounds that follow each other: the round and the version that it trains. */
  const teachers = async (
    rounds: readonly (readonly [index: number, version: number])[],
    variant?: string,
    recipeState?: unknown,
  ) => {
    const told: unknown[] = [];
    let state = recipeState;
    for (const [index, version] of rounds) {
      const { parts, plan } = await play({
        index,
        version,
        rounds: 40,
        recipeState: state,
        ...(variant ? { variant } : {}),
      });
      state = plan.recipeState;
      const [part] = parts as [DistillationPart | SftPart];
      told.push(part.kind === 'sft' ? null : part.teacher.version);
    }
    return told;
  };
  const each = [9, 10, 16, 17, 24, 25].map((index) => [index, index - 1] as const);
  expect(await teachers(each)).toEqual([8, 8, 8, 16, 16, 24]);
  expect(await teachers(each, 'no-sync')).toEqual(Array(6).fill(8));
  // Another run from the version that a first one left, whose teacher was version 8.
  const again = [
    [8, 23],
    [9, 24],
    [10, 25],
  ] as const;
  expect(await teachers(again, undefined, { teacher: 0, version: 8 })).toEqual([null, 24, 24]);
  // Version 7 was withdrawn, and its number is not used again.
  const rolledBack = [
    [7, 6],
    [8, 6],
    [9, 8],
    [10, 9],
  ] as const;
  expect(await teachers(rolledBack)).toEqual([null, null, 8, 8]);
  // Round 11 failed.
  const failed = [
    [9, 8],
    [10, 9],
    [12, 10],
    [17, 15],
    [18, 16],
  ] as const;
  expect(await teachers(failed)).toEqual([8, 8, 8, 15, 15]);
});

test('variants: rewards alone, imitation of right attempts, revisions to the end, and no bit', async () => {
  const grpo = await play({ variant: 'grpo', index: 12, rounds: 40 });
  // Two of six are paid: mean 1/3, deviation √(4/15).
  const [high, low] = [2 / 3, -1 / 3].map((x) => expect.closeTo(x / Math.sqrt(4 / 15), 4));
  expect(policyPart(grpo.plan).items.map(({ advantage }) => advantage)).toEqual([
    high,
    low,
    low,
    high,
    low,
    low,
  ]);

  const rft = await play({ variant: 'rft' });
  expect(rft.parts).toMatchObject([{ kind: 'sft', role: 'solver' }]);
  expect(rft.pairs((rft.parts[0] as SftPart).items)).toEqual(
    Array(2).fill([solve(rft.task), `${worked(rft.task)}<eos>`]),
  );

  const revising = await play({ variant: 'revision-only', index: 12, rounds: 40 });
  expect(revising.parts.map(({ kind, role }) => [kind, role])).toEqual([
    ['sft', 'reviser'],
    ['sft', 'solver'],
  ]);

  const untold = await play({ variant: 'no-bit' });
  expect(untold.asked.slice(3)).toEqual(
    [worked(untold.task), worked(untold.task, 1), 'x'].map((aid) => ['reviser', solve(untold.task, aid)]),
  );
  const unread = await play({ variant: 'no-bit', index: 9, rounds: 40 });
  expect(unread.contexts(unread.parts[0] as DistillationPart)[0]![1]).toBe(
    solve(unread.task, worked(unread.task)),
  );
});
