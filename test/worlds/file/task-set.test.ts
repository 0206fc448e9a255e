import { expect, test } from 'vitest';
import { Random } from '../../../core/random.ts';
import { drawFileTasks } from '../../../worlds/file/sampler.ts';
import type { PlacedTask } from '../../../worlds/file/task.ts';
import { reportLines, taskSet } from '../../../worlds/file/task-set.ts';

const task = (question: string, answer = '1', more: Partial<PlacedTask> = {}): PlacedTask => ({
  messages: [{ role: 'user', content: question }],
  answer,
  metadata: {},
  difficulty: null,
  file: 'a.jsonl',
  line: 1,
  ...more,
});
const many = (count: number, file = 'a.jsonl'): PlacedTask[] =>
  Array.from({ length: count }, (_, i) => task(`${file} question ${i}`, String(i), { file, line: i + 1 }));
const asked = (tasks: readonly PlacedTask[]) => tasks.map(({ messages }) => messages[0]!.content);
const training = (set: ReturnType<typeof taskSet>) => set.sources.flatMap(({ tasks }) => asked(tasks));

test('a share is held out by what is asked, the same whatever else is in the files', () => {
  const tasks = many(1000);
  const set = taskSet([{ tasks, weight: 1 }], { share: 0.1 });
  // Binomial(1000, 0.1) is between 70 and 130 with a chance of more than 99.8 %.
  expect(set.heldOut.length).toBeGreaterThan(70);
  expect(set.heldOut.length).toBeLessThan(130);
  expect(new Set([...asked(set.heldOut), ...training(set)]).size).toBe(1000);
  expect(set.heldOut.length + training(set).length).toBe(1000);
  const shuffledHalf = taskSet([{ tasks: tasks.slice(0, 500).reverse(), weight: 1 }], { share: 0.1 });
  expect(new Set(asked(shuffledHalf.heldOut))).toEqual(
    new Set(asked(set.heldOut).filter((question) => asked(tasks.slice(0, 500)).includes(question))),
  );
});

test('tasks of one kind go to the same side', () => {
  const tasks = many(200).map((each, i) => ({ ...each, metadata: { kind: i % 20 } }));
  const { heldOut, sources } = taskSet([{ tasks, weight: 1 }], { share: 0.3, by: 'kind' });
  const kinds = (side: readonly PlacedTask[]) => new Set(side.map(({ metadata }) => metadata.kind));
  for (const kind of kinds(heldOut)) expect(kinds(sources[0]!.tasks)).not.toContain(kind);
  expect(() => taskSet([{ tasks: many(3), weight: 1 }], { share: 0.3, by: 'kind' })).toThrow(
    /line 1 of a\.jsonl has no field "kind"/,
  );
});

test('duplicates, contradictions and leaks are left out and reported with their places', () => {
  const sources = [
    {
      weight: 1,
      tasks: [
        task('What is 3 + 4?', '7'),
        task('what is  3 + 4? ', '7', { line: 2 }),
        task('WHAT IS 3 + 4?', '8', { line: 3 }),
        task('In the examination', '1', { line: 4 }),
        task('Else', '1', { line: 5 }),
      ],
    },
    { weight: 1, tasks: [task('Else', '1', { file: 'b.jsonl' })] },
  ];
  const heldOut = [task('in the examination', '1', { file: 'held.jsonl', line: 9 })];
  const set = taskSet(sources, { tasks: heldOut });
  expect(training(set)).toEqual(['What is 3 + 4?', 'Else']);
  expect(asked(set.heldOut)).toEqual(['in the examination']);
  expect(reportLines(set.report)).toEqual([
    '2 tasks were left out because the same question stands before (a.jsonl:2 as a.jsonl:1, b.jsonl:1 as a.jsonl:5).',
    '1 task was left out because the same question stands before with another answer (a.jsonl:3 as a.jsonl:1).',
    '1 task was left out of training because the question is held out (a.jsonl:4 as held.jsonl:9).',
  ]);
  expect(reportLines(taskSet([{ tasks: many(100), weight: 1 }], { share: 0.1 }).report)).toEqual([]);
});

test('a side without tasks is refused', () => {
  const tasks = [task('one')];
  expect(() => taskSet([{ tasks, weight: 1 }], { tasks })).toThrow(
    /0 tasks are left for training, 1 are held out/,
  );
  expect(() => taskSet([{ tasks, weight: 1 }], { share: 0 })).toThrow(
    /1 tasks are left for training, 0 are held out/,
  );
});

test('draws go by the files’ weights, without repetition, and again the same', async () => {
  const sources = [
    { tasks: many(5000, 'a.jsonl'), weight: 3 },
    { tasks: many(5000, 'b.jsonl'), weight: 1 },
  ];
  const nothing = () => Promise.reject(new Error('nothing is stored'));
  const draw = () => drawFileTasks(nothing, new Random('seed'), sources, 2000);
  const drawn = await draw();
  expect(new Set(asked(drawn)).size).toBe(2000);
  expect(await draw()).toEqual(drawn);
  // 1500 of 2000 with a standard deviation of 19.4.
  const fromFirst = drawn.filter(({ file }) => file === 'a.jsonl').length;
  expect(Math.abs(fromFirst - 1500)).toBeLessThan(80);
  const three = [{ tasks: many(3), weight: 1 }];
  expect(await drawFileTasks(nothing, new Random('seed'), three, 10)).toHaveLength(3);
});
