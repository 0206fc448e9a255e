import { expect, test } from 'vitest';
import type { DistillationPart, PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';

const fbAlign = shipped.find('fb-align');

const steps = (totals: readonly number[]) => totals.map((total) => `<step>${total}`).join('');
/** All totals of a task and its answer, off by one from total number `from` on. */
function worked(task: string, from = 9): string {
  const totals = runningTotals(task).map((total, i) => (i >= from ? total + 1 : total));
  return `${steps(totals)}<answer>${totals.at(-1)}`;
}
/** Wrong from the second total on, wrong in the answer alone, right, and no solution. */
const attempts = (task: string): readonly string[] => [
  worked(task, 1),
  `${steps(runningTotals(task))}<answer>${runningTotals(task).at(-1)! + 1}`,
  worked(task),
  'x',
];

/** Plays a round of tasks; `learn` finds that the policy gives each token 1/2 and its teacher, who is asked second, 1/8. */
async function play(more: WriteOptions = {}) {
  let asked = 0;
  const { plan, groups, tokenizer } = await playWritten(
    fbAlign,
    (prompt, i) => `${attempts(prompt.slice('<solve>'.length, -'<sep>'.length))[i]}<eos>`,
    {
      tasks: 6,
      groupSize: 4,
      tools: {
        score: async (_, sequences) => {
          const probability = asked++ ? 1 / 8 : 1 / 2;
          return sequences.map(({ ids }) => Float32Array.from(ids, () => Math.log(probability)));
        },
      },
      ...more,
    },
  );
  const part = plan.updates[0]?.parts[0];
  const teacher = part?.kind === 'distillation' ? (part as DistillationPart) : undefined;
  return {
    plan,
    policy: part?.kind === 'policy' ? (part as PolicyPart) : undefined,
    teacher,
    tasks: groups.map(({ task }) => task),
    taught: teacher?.items.map(({ ids, teacherPrompt }) => [
      tokenizer.decode([...ids]).replace('<eos>', ''),
      tokenizer.decode([...teacherPrompt!]),
    ]),
  };
}

const told = (task: string, aid: string) => `<solve>${task}<sep>${aid}<sep>`;

test('feedback repeats the right totals word for word and corrects the first wrong one', async () => {
  const { taught, teacher, tasks, plan } = await play();
  // The round has a task in which something comes after the second total.
  expect(tasks.some((task) => runningTotals(task).length > 2)).toBe(true);
  expect(taught).toEqual(
    tasks.flatMap((task) => {
      const [slipped, misread, right] = attempts(task);
      // The second total of at least three; where it is the last one the whole solution is told. One total leaves nothing to slip at.
      const corrected =
        runningTotals(task).length > 2 ? steps(runningTotals(task).slice(0, 2)) : worked(task);
      return [
        [slipped, told(task, corrected)],
        [misread, told(task, worked(task))],
        [right, told(task, worked(task))],
      ];
    }),
  );
  expect(teacher).toMatchObject({
    role: 'solver',
    weight: 1,
    teacher: { set: 'teacher', version: 0 },
    divergence: { kind: 'forward-kl' },
  });
  // ln(1/2 ÷ 1/8) at every token, and no token of an attempt that is not well-formed.
  const ratio = expect.closeTo(Math.log(4), 5);
  expect(plan.figures).toEqual({ taught: 3 / 4, atFault: ratio, elsewhere: ratio, inExact: ratio });
});

test('variants: the reference whatever the attempt, the fault quoted, feedback on the next task, rewards alone', async () => {
  const reference = await play({ variant: 'reference' });
  expect(reference.taught!.map(([, prompt]) => prompt)).toEqual(
    reference.tasks.flatMap((task) => Array(3).fill(told(task, worked(task)))),
  );

  const quoted = await play({ variant: 'quoted' });
  expect(quoted.taught!.map(([, prompt]) => prompt)).toEqual(
    quoted.tasks.flatMap((task) => {
      const [first, second, ...rest] = runningTotals(task);
      const [slipped, misread, right] = attempts(task) as [string, string, string];
      return [rest.length ? steps([first!, second! + 1]) : slipped, misread, right].map((aid) =>
        told(task, aid),
      );
    }),
  );

  const shuffled = await play({ variant: 'shuffled-feedback' });
  const { tasks } = shuffled;
  expect(shuffled.taught!.map(([, prompt]) => prompt)).toEqual(
    tasks.flatMap((task, i) => {
      const next = tasks[(i + 1) % tasks.length]!;
      const corrected =
        runningTotals(next).length > 2 ? steps(runningTotals(next).slice(0, 2)) : worked(next);
      return [corrected, worked(next), worked(next)].map((aid) => told(task, aid));
    }),
  );

  const grpo = await play({ variant: 'grpo', tasks: 1 });
  expect(grpo.teacher).toBeUndefined();
  // A task of two totals or more: one of four is paid. Mean 1/4, deviation 1/2.
  expect(runningTotals(grpo.tasks[0]!).length).toBeGreaterThan(1);
  expect(grpo.policy!.items.map(({ advantage }) => advantage)).toEqual(
    [-0.5, -0.5, 1.5, -0.5].map((advantage) => expect.closeTo(advantage, 4)),
  );
});

test('a run that the checker does not pay repeats what was paid, and corrects nothing', async () => {
  const { taught, tasks } = await play({ rewardFunction: 'format' });
  expect(taught).toEqual(
    tasks.flatMap((task) =>
      attempts(task)
        .slice(0, 3)
        .map((text) => [text, told(task, text)]),
    ),
  );
});
