/** Tasks of one answer that the mesh serves: played through the client of the standard, every solution is paid what it is paid in process. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Ask, holdEpisode } from '../../cli/environment/hold-episode.ts';
import { orsHost } from '../../cli/environment/ors-host.ts';
import { readStart } from '../../cli/shared/import-policy.ts';
import type { Recipe } from '../../core/recipe.ts';
import { registry } from '../../core/registry.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import type { Solution, TaskFamily } from '../../core/task-family.ts';
import { exactReward } from '../../protocols/answer-rewards.ts';
import { writeTask } from '../../protocols/questions/task-text.ts';
import { solverAlone } from '../../protocols/solver.ts';
import { dapo } from '../../recipes/dapo/recipe.ts';
import { grpoFrom } from '../../recipes/grpo/from-data.ts';
import { hostedFamilies } from '../../recipes/hosted-families.ts';
import { recipes } from '../../recipes/index.ts';
import { questionRecipeFrom } from '../../recipes/on-questions.ts';
import { arithmetic, runningTotals } from '../../tasks/arithmetic/family.ts';
import { chains } from '../../tasks/chains/family.ts';
import { equationSteps, equations, parseEquation, rootOf } from '../../tasks/equations/family.ts';
import { environments, questionOf } from '../../tasks/programs/environments.ts';
import { programs, splitTask } from '../../tasks/programs/family.ts';
import { outputOf } from '../../tasks/programs/interpreter.ts';
import { parseList, parseProgram, writeList } from '../../tasks/programs/language.ts';
import { repair } from '../../tasks/programs/repair.ts';
import { statements } from '../../tasks/programs/statements.ts';
import { rewriting, shortestDerivation } from '../../tasks/rewriting/family.ts';
import { parseQuery, temporalGraphs } from '../../tasks/temporal-graphs/family.ts';
import { linksAt } from '../../tasks/temporal-graphs/graph.ts';
import { wordsTaskSet } from '../../tasks/words/task-set.ts';
import { called, inProcess, served } from './environment-scene.ts';

afterEach(() => vi.unstubAllGlobals());

const totals = (task: string): Solution => {
  const steps = runningTotals(task).map(String);
  return { steps, answer: steps.at(-1)! };
};
const value = <T>(parsed: { ok: true; value: T } | { ok: false }): T => {
  if (parsed.ok) return parsed.value;
  throw new Error('a task does not parse');
};
/** What is planted in a task about programs: an input, an output, or the program. */
const planted = (text: string): Solution => {
  const { kind, task } = splitTask(text)!;
  const [program = '', input = ''] = task.split(';');
  if (kind !== 'deduction') return { steps: [], answer: kind === 'induction' ? program : input };
  return { steps: [], answer: writeList(outputOf(value(parseProgram(program)), value(parseList(input)))!) };
};

/** Each family, with a right solution of a task. */
const FAMILIES: readonly [name: string, family: TaskFamily, right: (task: string) => Solution][] = [
  ['arithmetic', arithmetic, totals],
  ['chains', chains, totals],
  [
    'equations',
    equations,
    (task) => {
      const equation = parseEquation(task)!;
      return { steps: equationSteps(equation), answer: String(rootOf(equation)) };
    },
  ],
  [
    'rewriting',
    rewriting,
    (task) => ({ steps: [...shortestDerivation(task)!], answer: task.split(';')[2]! }),
  ],
  ['programs', programs, planted],
  ['environments', environments, (task) => planted(questionOf(task))],
  ['repair', repair, (task) => ({ steps: [], answer: task.split(';')[0]! })],
  ['statements', statements, (task) => ({ steps: [], answer: task.split(';')[0]! })],
  ['temporal-graphs', temporalGraphs, (task) => ({ steps: [], answer: linksAt(parseQuery(task)!).join('') })],
];

/** Right and wrong solutions, and some that are none. */
const attempts = ({ steps, answer }: Solution, other: Solution): Solution[] => [
  { steps, answer },
  { steps: [], answer },
  { steps, answer: other.answer },
  { steps: [...steps, answer], answer },
  { steps: steps.map(() => other.steps[0] ?? '7'), answer },
  { steps, answer: `${answer} ` },
  { steps, answer: 'what?' },
];

/** A policy that submits this and nothing else, and the prompt that it is given. */
function submits(input: object): { ask: Ask; prompt: () => string } {
  let read = '';
  return {
    prompt: () => read,
    ask: async (messages) => {
      read = messages.map(({ content }) => String(content)).join('\n');
      return called('call-1', 'submit', input);
    },
  };
}

test('every mesh serves them beside the worlds of its recipes', async () => {
  const { client } = await served({ recipes: registry(recipes, hostedFamilies) });
  expect([...(await client.environments())].sort()).toEqual(
    [...FAMILIES.map(([name]) => name), 'words', 'lake', 'push', 'search'].sort(),
  );
});

describe.each(FAMILIES)('%s', (environment, family, right) => {
  const TASKS = 6;
  const heldOut = family.heldOut({ heldOut: true, most: TASKS + 1 });

  test('pays every solution what it is paid in process', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    const recipe: Recipe = { ...dapo, ...solverAlone({ family, rewards: { exact: exactReward } }) };
    const scores: number[] = [];
    for (const [index, task] of heldOut.slice(0, TASKS).entries())
      for (const [i, { steps, answer }] of attempts(right(task), right(heldOut[index + 1]!)).entries()) {
        const place = { environment, split: 'test', index };
        const { ask, prompt } = submits({ answer, steps });
        const held = await holdEpisode(orsHost(client), { metadata: place }, `s-${index}-${i}`, ask, {
          turns: 4,
        });
        const text = `${steps.map((step) => `<step>${step}`).join('')}<answer>${answer}<eos>`;
        const played = await inProcess(recipe, { solver: {} }, () => text)(task);
        expect(held.score).toBe(played.turns[0]!.rewards.reward);
        scores.push(Number(held.score));
        // What a solver in the notation of tags reads, without the tags, after the rules.
        const question = played.text.slice('<solve>'.length, played.text.indexOf('<sep>'));
        expect(prompt().endsWith(`\n${question}`)).toBe(true);
        expect(await client.task(place)).toEqual({ question });
        // Of attempts at each task the first is right, and the last is no solution.
        if (i === 0) expect(held.score).toBe(1);
        if (answer === 'what?') expect(held.score).toBe(0);
      }
    expect(new Set(scores)).toEqual(new Set([0, 1]));
  });

  test('draws each training task by its number, on the other side of the split', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    expect(await client.countTasks(environment, 'train')).toBe(10_000);
    expect(await client.countTasks(environment, 'test')).toBe(family.heldOut().length);
    const told = async (index: number) =>
      String((await client.task({ environment, split: 'train', index })).question);
    const questions = await Promise.all(Array.from({ length: 20 }, (_, index) => told(index)));
    expect(await told(3)).toBe(questions[3]);
    expect(new Set(questions).size).toBeGreaterThan(10);
    const asked = new Set(family.heldOut().map((task) => family.solverPrompt(task)));
    for (const question of questions) expect(asked).not.toContain(`<solve>${question}<sep>`);
  });
});

test('a policy without tools hands in its whole answer', async () => {
  const { client } = await served({ recipes: registry([], hostedFamilies) });
  const place = { environment: 'arithmetic', split: 'test', index: 0 };
  const { answer } = totals(arithmetic.heldOut()[0]!);
  const said = { id: 'one', message: { role: 'assistant', content: answer }, content: answer, calls: [] };
  const ask: Ask = async () => said;
  const how = { turns: 4, answerTool: 'submit' };
  expect(await holdEpisode(orsHost(client), { metadata: place }, 'one', ask, how)).toMatchObject({
    score: 1,
  });
});

test('no tag gets into a solution: such a call is refused, and does not count', async () => {
  const { client } = await served({ recipes: registry([], hostedFamilies) });
  await client.begin({ environment: 'arithmetic', split: 'test', index: 0 }, 'one');
  const submit = (input: Record<string, unknown>) => client.call('arithmetic', 'one', 'submit', input);
  for (const input of [{ answer: '1<eos>' }, { answer: '1', steps: ['2<answer>3'] }, { answer: '' }, {}])
    expect(await submit(input)).toMatchObject({ ok: false });
  const { answer } = totals(arithmetic.heldOut()[0]!);
  expect(await submit({ answer })).toMatchObject({ output: { reward: 1, finished: true } });
});

describe('questions', () => {
  const line = (content: string, answer: string) => ({
    messages: [{ role: 'user' as const, content }],
    answer,
    metadata: {},
    difficulty: null,
    file: 'f',
    line: 1,
  });
  const data = {
    name: 'mine',
    start: 'words',
    checker: 'auto',
    extract: ['boxed', 'answer', 'whole'],
    sources: [{ weight: 1, tasks: [line('What is 2 + 3?', '5'), line('What is 2 + 4?', '6')] }],
    heldOut: [line('What is 1/2 + 1/4?', '3/4')],
    settings: {},
  };
  const answersOf = (right: string) => [
    right,
    `\\boxed{${right}}`,
    `so <answer>${right}</answer>`,
    '7',
    '<answer></answer>',
  ];

  test.each([
    ['grpo', grpoFrom(data)],
    ['sdpo', questionRecipeFrom({ recipe: 'sdpo', ...data })],
  ])('of a file are served by the run that has it: %s', async (_, recipe) => {
    const { client } = await served({ recipes: registry([recipe], hostedFamilies) });
    const environment = recipe.name;
    expect(await client.environments()).toContain(environment);
    const text = textOf(await readStart('words'), 'words');
    const scores: number[] = [];
    for (const [split, tasks] of [
      ['train', data.sources[0]!.tasks],
      ['test', data.heldOut],
    ] as const) {
      expect(await client.countTasks(environment, split)).toBe(tasks.length);
      for (const [index, task] of tasks.entries()) {
        const place = { environment, split, index };
        const question = task.messages[0]!.content;
        expect(await client.task(place)).toEqual({
          question,
          ...(split === 'train' ? { answer: task.answer } : {}),
        });
        for (const [i, answer] of answersOf(task.answer).entries()) {
          const { ask, prompt } = submits({ answer });
          const session = `${split}-${index}-${i}`;
          const held = await holdEpisode(orsHost(client), { metadata: place }, session, ask, { turns: 4 });
          expect(prompt()).toBe(question);
          const played = await inProcess(
            recipe,
            { solver: {} },
            () => `${answer}<|end|>`,
            text,
          )(writeTask(task));
          expect(held.score).toBe(played.turns[0]!.rewards.reward);
          scores.push(Number(held.score));
        }
      }
    }
    expect(scores).toEqual([1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0]);
  });

  test('that are generated are served by every mesh', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    const { heldOut } = wordsTaskSet();
    expect(await client.countTasks('words', 'train')).toBe(3600);
    expect(await client.countTasks('words', 'test')).toBe(heldOut.length);
    const { question, answer } = await client.task({ environment: 'words', split: 'train', index: 5 });
    expect(heldOut.map(({ messages }) => messages[0]!.content)).not.toContain(question);
    await client.begin({ environment: 'words', split: 'train', index: 5 }, 'one');
    expect(await client.call('words', 'one', 'submit', { answer: String(answer) })).toMatchObject({
      output: { reward: 1, finished: true },
    });
    expect(await client.task({ environment: 'words', split: 'test', index: 0 })).toEqual({
      question: heldOut[0]!.messages[0]!.content,
    });
  });
});
