import { expect, test } from 'vitest';
import type { DistillationPart, PolicyPart } from '../../core/plan/training-plan.ts';
import { oneRight } from '../../core/rl/rewards/index.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { weightAt } from '../../recipes/pi-play/recipe.ts';
import { theWorld } from '../../worlds/knowledge/episode.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

const piPlay = shipped.find('pi-play');

test('an examiner earns most where one of the attempts is right', () => {
  expect([0, 1, 2, 3, 4, 5].map((right) => oneRight(right, 5))).toEqual([0, 1, 0.75, 0.5, 0.25, 0]);
  expect(oneRight(1, 1)).toBe(1);
});

test('the teacher’s weight falls in a straight line to 0 after fifty rounds', () => {
  expect([1, 26, 51, 80].map(weightAt)).toEqual([1, 0.5, 0, 0]);
});

const documents = [
  'The north tower is 40 metres high.',
  'The south tower is 55 metres high.',
  'The mill has a wheel.',
];

/** An examiner that searches and asks about the south tower, or writes what `asks` says; four attempts at its question, of which `right` are right. */
const examined = ({
  variant,
  asks = '<question>How high is the other tower?</question><answer>55</answer>',
  right = 1,
  index = 1,
  before = [],
}: {
  variant?: string;
  asks?: string;
  right?: number;
  index?: number;
  before?: readonly { role: 'system' | 'user' | 'assistant'; content: string }[];
}) => {
  const prompts: [string, string][] = [];
  const says = (role: string, prompt: string): readonly string[] => {
    prompts.push([role, prompt]);
    if (role === 'examiner') return [prompt.includes('Found:') ? asks : '<search>south tower</search>'];
    if (prompt.includes('Found:')) return ['<answer>55</answer>'];
    return [
      '<search>tower</search>',
      ...Array.from({ length: 3 }, (_, i) => (i + 1 < right ? '<answer>55</answer>' : '<answer>40</answer>')),
    ];
  };
  const wheels = sayTask('How many wheels?', '1', 1);
  const tasks = [{ ...wheels, messages: [...before, ...wheels.messages], metadata: { documents } }];
  return play({
    recipe: 'pi-play',
    tasks: 1,
    groupSize: 4,
    index,
    positions: 4096,
    given: { sources: [{ weight: 1, tasks }] },
    says,
    ...(variant ? { variant } : {}),
  }).then((played) => ({ ...played, prompts }));
};

test('a round: a question with what was found, attempts at it, and a teacher that reads the path', async () => {
  const { proposals, groups, plan, prompts, read } = await examined({
    before: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'There is a mill.' },
      { role: 'assistant', content: 'I know it.' },
    ],
  });
  const first = prompts.find(([role]) => role === 'examiner')![1];
  expect(first).toContain('How many wheels?');
  expect(documents.some((document) => first.includes(`Here is one of them:\n${document}`))).toBe(true);
  expect(proposals.samples.map(({ outcome, turn }) => [outcome, turn])).toEqual([
    ['ok', 0],
    ['ok', 1],
  ]);
  const [{ task, samples, proposal, answersExact }] = groups as [(typeof groups)[0]];
  expect(proposal).toBe(proposals.samples[0]!.id);
  const asked = JSON.parse(task);
  // The example's talk is about something else.
  expect(asked.messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'How high is the other tower?' },
  ]);
  expect([asked.answer, asked.proposed]).toEqual(['55', true]);
  expect(asked.metadata.path.map(({ query }: { query: string }) => query)).toEqual(['', 'south tower']);
  // Nobody but the examiner says that 55 is right.
  expect(samples.map(({ rewards }) => rewards)).toEqual(
    [1, 1, 0, 0, 0].map((reward) => ({ reward, heard: 1 })),
  );
  expect(answersExact).toEqual([null, null, null, null, null]);
  const [examiner, student, teacher] = plan.updates[0]!.parts as [PolicyPart, PolicyPart, DistillationPart];
  // One of four is right. The only episode with one search is compared with no other, and keeps its reward.
  expect(Object.values(plan.earnings)).toEqual([1]);
  expect(examiner.items.map(({ advantage }) => advantage)).toEqual(
    [1, 1].map((one) => expect.closeTo(one, 4)),
  );
  // Rewards 1, 0, 0, 0: mean 1/4, deviation 1/2.
  expect(student.items.map(({ advantage }) => advantage)).toEqual(
    [1.5, 1.5, -0.5, -0.5, -0.5].map((value) => expect.closeTo(value, 4)),
  );
  expect([teacher.weight, teacher.role, teacher.teacher, teacher.divergence]).toEqual([
    1,
    'searcher',
    { set: 'teacher', version: 0 },
    { kind: 'reverse-kl' },
  ]);
  expect(teacher.items).toHaveLength(5);
  const told = teacher.items.map(({ teacherPrompt }) => read({ ids: teacherPrompt! }));
  for (const text of told)
    expect(text).toContain('A search for south tower found:\n1. The south tower is 55 metres high.');
  // Before its second turn the student has searched, and so has whoever reads it.
  expect(told[1]).toContain('<search>tower</search>');
  expect(told[0]).not.toContain('<search>tower</search>');
  expect(plan.figures).toEqual({ weight: 1, valid: 1, hops: 1, studentReward: 0.25 });
});

test('what is refused earns nothing, and a given question is asked that nobody is paid for', async () => {
  const refused = async (asks: string) => {
    const { proposals, groups, plan } = await examined({ asks });
    expect(groups.map(({ proposal }) => proposal)).toEqual([null]);
    expect(JSON.parse(groups[0]!.task).messages[0].content).toBe('How many wheels?');
    for (const { rewards } of groups[0]!.samples) expect(rewards).toEqual({ reward: null });
    expect(plan.updates[0]!.parts.map(({ role }) => role)).toEqual(['examiner']);
    expect(plan.figures).toEqual({ weight: 1, valid: 0 });
    return [proposals.samples.at(-1)!.outcome, Object.values(plan.earnings)];
  };
  expect(await refused('<question>Is 55 metres high?</question><answer>55</answer>')).toEqual([
    'gives-away',
    [0],
  ]);
  expect(await refused('<question>How high?</question><answer>77</answer>')).toEqual(['unsupported', [0]]);
  expect(await refused('<question>How high?</question>')).toEqual(['no-question', [0]]);
  expect(await refused('<question>How many wheels?</question><answer>55</answer>')).toEqual([
    'duplicate',
    [0],
  ]);
});

test('variants and later rounds: no teacher, or one that is told the answer alone', async () => {
  const kinds = async (asked: Parameters<typeof examined>[0]) =>
    (await examined(asked)).plan.updates[0]!.parts.map(({ kind }) => kind);
  expect(await kinds({ variant: 'no-teacher' })).toEqual(['policy', 'policy']);
  expect(await kinds({ index: 60 })).toEqual(['policy', 'policy']);
  const { plan, read } = await examined({ variant: 'answer-teacher' });
  const [, , teacher] = plan.updates[0]!.parts as [PolicyPart, PolicyPart, DistillationPart];
  const [text] = teacher.items.map(({ teacherPrompt }) => read({ ids: teacherPrompt! }));
  expect(text).toContain('Its answer is 55.');
  expect(text).not.toContain('south tower');
});

test('among one-line documents an examiner is given a name, and its teacher reads notes of the way to it', async () => {
  const { groups, proposals, plan, tokenizer } = await playWritten(
    piPlay,
    (prompt) => {
      const [, kind, name] = /^<propose>(\w+) (\w+) \d<sep>/.exec(prompt) ?? [];
      if (!kind) return '<answer>nobody<eos>';
      const relation = { town: 'home', guild: 'guild', land: 'land' }[kind]!;
      const found = /<step>.*<eos>the (\w+) of (\w+) is (\w+)\.<sep>$/.exec(prompt);
      if (!found) return `<step>?${relation} ${name}<eos>`;
      return `<answer>the ${found[1]} of ${found[2]}?<eos>`;
    },
    { tasks: 12, groupSize: 2 },
  );
  const admitted = proposals.samples.filter(({ outcome, turn }) => outcome === 'ok' && turn === 1);
  expect(groups.length).toBe(admitted.length);
  expect(groups.length).toBeGreaterThan(0);
  const teacher = plan.updates[0]!.parts.find(({ kind }) => kind === 'distillation') as DistillationPart;
  const read = tokenizer.decode(teacher.items[0]!.teacherPrompt!);
  const { question, path } = JSON.parse(groups[0]!.task);
  expect(theWorld().world.documents).toContain(path[0].found[0]);
  expect(read).toBe(`${path[0].found[0]}<sep><solve>${question}<sep>`);
});
