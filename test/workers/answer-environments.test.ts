/** Tasks of one answer that the mesh serves: played through the client of the standard, every solution is paid what it is paid in process. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import type { Solution, TaskFamily } from '../../core/recipe/task-family.ts';
import { textOf } from '../../core/renderer/policy-text.ts';
import { readStart } from '../../local/find-start.ts';
import { exactReward } from '../../protocols/answer-rewards.ts';
import { solverAlone } from '../../protocols/solver.ts';
import { recipeFrom } from '../../recipes/from-files.ts';
import { grpo } from '../../recipes/grpo/recipe.ts';
import { recipes, shipped } from '../../recipes/index.ts';
import { type Ask, holdEpisode } from '../../workers/api/environment/hold-episode.ts';
import { orsHost } from '../../workers/api/environment/ors-host.ts';
import { arithmetic, runningTotals } from '../../worlds/arithmetic/family.ts';
import { chains } from '../../worlds/chains/family.ts';
import { cipher } from '../../worlds/cipher/family.ts';
import { heldOutDocuments } from '../../worlds/documents/family.ts';
import { questions } from '../../worlds/documents/questions.ts';
import { equationSteps, equations, parseEquation, rootOf } from '../../worlds/equations/family.ts';
import { kuhnEquilibrium, kuhnValue } from '../../worlds/games/kuhn-strategy.ts';
import { hostedFamilies } from '../../worlds/hosted/families.ts';
import { environments, questionOf } from '../../worlds/programs/environments.ts';
import { programs, splitTask } from '../../worlds/programs/family.ts';
import { outputOf } from '../../worlds/programs/interpreter.ts';
import { parseList, parseProgram, writeList } from '../../worlds/programs/language.ts';
import { repair } from '../../worlds/programs/repair.ts';
import { statements } from '../../worlds/programs/statements.ts';
import { writeTask } from '../../worlds/questions/task-text.ts';
import { rewriting, shortestDerivation } from '../../worlds/rewriting/family.ts';
import { heldOutStyle } from '../../worlds/style/family.ts';
import { parseQuery, temporalGraphs } from '../../worlds/temporal-graphs/family.ts';
import { linksAt } from '../../worlds/temporal-graphs/graph.ts';
import { wordsTaskSet } from '../../worlds/words/task-set.ts';
import { called, inProcess, served } from './environment-scene.ts';

const dapo = shipped.find('dapo');
const sipretrain = shipped.find('sipretrain');
const tReg = shipped.find('t-reg');

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

const STYLE_ORDERS: Record<string, (a: string, b: string) => number> = {
  az: (a, b) => (a < b ? -1 : 1),
  za: (a, b) => (a < b ? 1 : -1),
  up: (a, b) => a.length - b.length,
  down: (a, b) => b.length - a.length,
};
/** A perfect response, by the words of the rubric. */
const perfectStyle = (task: string): string => {
  const [, order = '', least = '', words = ''] = /^(\w+) (\d)-\d:(.*)$/.exec(task) ?? [];
  return [...new Set(words.split(' '))].slice(0, Number(least)).sort(STYLE_ORDERS[order]).join(' ');
};
const truthful = (document: string) => document.slice(0, document.indexOf(':'));
const raised = (text: string) => text.replace(/\d/, (digit) => String((Number(digit) % 8) + 1));
const [CIPHER_SMALL, CIPHER_CAPITAL] = ['abcdefghijkl', 'EKAGHBLCFDJI'] as const;
const translated = (sentence: string): string =>
  sentence === sentence.toLowerCase()
    ? [...`${sentence.at(-1)}${sentence.slice(0, -1)}`]
        .map((word) => CIPHER_CAPITAL[CIPHER_SMALL.indexOf(word)])
        .join('')
    : [...`${sentence.slice(1)}${sentence[0]}`]
        .map((word) => CIPHER_SMALL[CIPHER_CAPITAL.indexOf(word)])
        .join('');

interface OfTexts {
  /** Recipe that pays the same text in process. */
  readonly recipe: Recipe;
  readonly role: string;
  readonly heldOut: readonly string[];
  /** What a text is in the notation of the recipe’s policy. */
  readonly write: (text: string) => string;
  readonly question: (task: string) => string;
  /** Texts and what the first ones are worth, by words of this test. */
  readonly attempts: (task: string) => readonly string[];
  readonly worth: readonly number[];
}

const solver = (family: TaskFamily): Pick<OfTexts, 'recipe' | 'role' | 'write'> => ({
  recipe: { ...dapo, ...solverAlone({ family, rewards: { exact: exactReward } }) },
  role: 'solver',
  write: (text) => `${text}<eos>`,
});

/** Each kind of task whose answer is one text. */
const TEXTS: readonly (readonly [name: string, OfTexts])[] = [
  [
    'style',
    {
      recipe: { ...tReg, rewards: { rubric: tReg.rewards.rubric! } },
      role: 'responder',
      heldOut: heldOutStyle({ heldOut: true, most: 6 }),
      write: (text) => `<answer>${text}<eos>`,
      question: (task) => task,
      // A word that is not there costs one point, twice the same word another one, one word alone two.
      attempts: (task) => {
        const right = perfectStyle(task);
        return [right, 'nowhere', `${right} `, right.split(' ')[0]!, `${right} ${right}`];
      },
      worth: [1, 2 / 5, 0, 3 / 5],
    },
  ],
  [
    'documents',
    {
      recipe: { ...sipretrain, rewards: { truth: sipretrain.rewards.truth! } },
      role: 'author',
      heldOut: heldOutDocuments({ heldOut: true, most: 6 }),
      write: (text) => `${text}<eos>`,
      question: (document) => `${truthful(document)}:`,
      attempts: (document) => {
        const right = truthful(document);
        return [right, right.split(' ').reverse().join(' '), raised(right), right.slice(4), 'what'];
      },
      worth: [1, 1, 4 / 5, 0, 0],
    },
  ],
  [
    'documents-questions',
    {
      ...solver(questions),
      heldOut: questions.heldOut({ heldOut: true, most: 6 }),
      question: (task) => task.slice(0, task.indexOf('?')),
      attempts: (task) => [task.slice(task.indexOf('?') + 1), 'after qq', 'what is it'],
      worth: [1, 0, 0],
    },
  ],
  [
    'cipher',
    {
      ...solver(cipher),
      heldOut: cipher.heldOut({ heldOut: true, most: 6 }),
      question: (sentence) => sentence,
      attempts: (sentence) => {
        const right = translated(sentence);
        return [right, [...right].reverse().join(''), sentence, right.slice(1)];
      },
      worth: [1],
    },
  ],
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
    [
      ...FAMILIES.map(([name]) => name),
      ...TEXTS.map(([name]) => name),
      ...['documents-sums', 'kuhn', 'tic-tac-toe', 'words', 'lake', 'push', 'search'],
    ].sort(),
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

describe.each(TEXTS)('%s', (environment, { recipe, role, heldOut, write, question, attempts, worth }) => {
  test('pays every text what it is paid in process', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    const others = Object.keys(recipe.roles).filter((name) => name !== role);
    for (const [index, task] of heldOut.entries()) {
      const place = { environment, split: 'test', index };
      expect(await client.task(place)).toEqual({ question: question(task) });
      for (const [i, text] of attempts(task).entries()) {
        const { ask, prompt } = submits({ answer: text });
        const { score } = await holdEpisode(orsHost(client), { metadata: place }, `t-${index}-${i}`, ask, {
          turns: 4,
        });
        const roles = Object.fromEntries([role, ...others].map((name) => [name, {}]));
        const { turns } = await inProcess(recipe, roles, () => write(text))(task);
        expect(score).toBe(turns[0]!.rewards.reward);
        if (i < worth.length) expect(score).toBeCloseTo(worth[i]!, 12);
        expect(prompt().endsWith(`\n${question(task)}`)).toBe(true);
      }
    }
  });

  test('draws training tasks on the other side of the split', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    expect(await client.countTasks(environment, 'train')).toBe(10_000);
    const asked = new Set(heldOut.map(question));
    const drawn = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        String((await client.task({ environment, split: 'train', index })).question),
      ),
    );
    expect(new Set(drawn).size).toBeGreaterThan(10);
    for (const one of drawn) expect(asked).not.toContain(one);
  });
});

test('the digit of a document is paid where it is the result of the sum before it', async () => {
  const { client } = await served({ recipes: registry([], hostedFamilies) });
  for (let index = 0; index < 12; index++) {
    const place = { environment: 'documents-sums', split: index % 2 ? 'test' : 'train', index };
    const [, first = '', rest = ''] = /(\d)((?:[+-]\d)+)=$/.exec(
      String((await client.task(place)).question),
    )!;
    const total = [...rest.matchAll(/[+-]\d/g)].reduce((sum, [term]) => sum + Number(term), Number(first));
    for (const digit of [total, (total + 1) % 10]) {
      const session = `d-${index}-${digit}`;
      await client.begin(place, session);
      expect(await client.call('documents-sums', session, 'submit', { answer: String(digit) })).toMatchObject(
        { output: { reward: Number(digit === total), finished: true } },
      );
    }
  }
});

describe('games', () => {
  /** Plays a game through the client: what was read, and what each move was paid. */
  async function play(
    client: Awaited<ReturnType<typeof served>>['client'],
    environment: string,
    index: number,
    move: (seen: string, turn: number) => string,
  ) {
    const seen: string[] = [];
    const ask: Ask = async (messages) => {
      const last = String(messages.at(-1)!.content);
      // The rules are one line, and come first.
      seen.push(seen.length ? last : last.slice(last.indexOf('\n') + 1));
      return called(`move-${seen.length}`, 'move', { action: move(seen.at(-1)!, seen.length) });
    };
    const place = { environment, split: 'train', index };
    const told = await client.task(place);
    const { score } = await holdEpisode(
      orsHost(client),
      { metadata: place },
      `${environment}-${index}`,
      ask,
      {
        turns: 16,
      },
    );
    return { seen, score: Number(score), told };
  }
  const cellsOf = (seen: string) => seen.slice(0, 11).replaceAll('\n', '');
  const LINES = [7, 56, 448, 73, 146, 292, 273, 84];
  const wins = (cells: string, mark: string) =>
    LINES.some((line) => [...cells].every((cell, i) => !(line & (1 << i)) || cell === mark));

  test('tic-tac-toe: the opponent makes one move for each, and whoever has three in a row wins', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    const scores: number[] = [];
    const first: boolean[] = [];
    for (let index = 0; index < 24; index++) {
      const moved: string[] = [];
      const { seen, score, told } = await play(client, 'tic-tac-toe', index, (board) => {
        const [cells, mine] = [cellsOf(board), board.at(-1)!];
        const free = [...cells].flatMap((cell, i) => (cell === '.' ? [i] : []));
        const winning = free.find((i) => wins(cells.slice(0, i) + mine + cells.slice(i + 1), mine));
        const at = winning ?? free[index % free.length]!;
        moved.push(cells.slice(0, at) + mine + cells.slice(at + 1));
        return String(at + 1);
      });
      const mine = seen[0]!.at(-1)!;
      expect(told).toEqual({ player: mine === 'x' ? 1 : 2 });
      first.push(mine === 'x');
      for (const [i, board] of seen.slice(1).entries()) {
        const before = moved[i]!;
        const changed = [...cellsOf(board)].flatMap((cell, at) => (cell === before[at] ? [] : [cell]));
        expect(changed).toEqual([mine === 'x' ? 'o' : 'x']);
      }
      // A game that was won by a move ends with it; otherwise the board was full, or the opponent's move ended it.
      const last = moved.at(-1)!;
      if (wins(last, mine)) expect(score).toBe(1);
      else expect(score).toBe(last.replaceAll('.', '').length === 9 ? 0 : score === 0 ? 0 : -1);
      scores.push(score);
    }
    expect(new Set(scores)).toEqual(new Set([1, 0, -1].filter((score) => scores.includes(score))));
    expect(scores.filter((score) => score === 1).length).toBeGreaterThan(6);
    expect(new Set(first).size).toBe(2);
  });

  test('games that begin alike are tasks of their own in a file', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    const { rows } = await orsHost(client).rows({ name: 'kuhn', first: 40 });
    const asked = (rows as { question: string; metadata: { index: number } }[]).map(
      ({ question }) => question,
    );
    // Three cards, alone or after one of two moves.
    const situations = asked.map((question) => /\n([jqk](?: [pb])?)(?:\n|$)/.exec(question)![1]!);
    expect(new Set(situations).size).toBeLessThanOrEqual(9);
    expect(new Set(asked).size).toBe(40);
    for (const [i, question] of asked.entries())
      expect(question.endsWith(`\n\n(task ${i})`)).toBe(situations.indexOf(situations[i]!) < i);
  });

  test('three refused moves cost 0.2 and the game', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    expect((await play(client, 'tic-tac-toe', 0, () => 'zero')).score).toBeCloseTo(-1.2, 12);
    expect((await play(client, 'kuhn', 0, () => 'fold')).score).toBeCloseTo(-2.2, 12);
  });

  test('Kuhn poker: what is won follows from both cards, and always betting loses to perfect play what it must', async () => {
    const { client } = await served({ recipes: registry([], hostedFamilies) });
    const games = 240;
    let [sum, firsts] = [0, 0];
    for (let index = 0; index < games; index++) {
      const { seen, score, told } = await play(client, 'kuhn', index, () => 'bet');
      expect(seen[0]).toMatch(told.player === 1 ? /^[jqk]$/ : /^[jqk] [pb]$/);
      // Who always bets never folds: the pot is lost or won at 2, or taken at 1.
      expect([-2, 1, 2]).toContain(score);
      if (score === 1) expect(seen).toHaveLength(1);
      // The best and the worst card are worth what they are.
      if (seen[0]!.startsWith('k')) expect(score).toBeGreaterThan(0);
      if (seen[0]!.startsWith('j')) expect(score).not.toBe(2);
      sum += score;
      firsts += Number(told.player === 1);
    }
    expect(firsts).toBeGreaterThan(games / 3);
    expect(firsts).toBeLessThan((2 * games) / 3);
    const always = { j: 1, q: 1, k: 1, 'j p': 1, 'q p': 1, 'k p': 1, 'j b': 1, 'q b': 1, 'k b': 1 };
    const perfect = kuhnEquilibrium(1 / 6);
    const expected = (kuhnValue(always, perfect) - kuhnValue(perfect, always)) / 2;
    // A game's deviation is below 2.
    expect(Math.abs(sum / games - expected)).toBeLessThan((3 * 2) / Math.sqrt(games));
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
    ['grpo', grpo.make(data)],
    ['sdpo', recipeFrom({ from: 'sdpo', data })],
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
