/** Rewards from outside: modules are bundled with their steps counted, sums are parsed, and everything that is wrong with them is said. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { readLines } from '../../cli/policy/files.ts';
import { bundleReward, loadReward, tryReward } from '../../cli/rewards/reward-module.ts';
import { joinedRewards, parseRewards } from '../../cli/rewards/reward-option.ts';
import { readRubric } from '../../cli/rewards/rubric-file.ts';
import { countSteps, STEP } from '../../cli/rewards/step-counting.ts';
import { taskRecipe } from '../../cli/task-recipe.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { type RewardRollout, type RewardTask, scoreByModule } from '../../core/recipe/reward-function.ts';
import { payByReward, rewardFigures, TOTAL } from '../../protocols/questions/weighted-reward.ts';
import { grpo } from '../../recipes/grpo/recipe.ts';

const root = mkdtempSync(join(tmpdir(), 'rollmesh-rewards-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  const path = join(root, name);
  writeFileSync(path, text);
  return path;
};
const task: RewardTask = {
  messages: [{ role: 'user', content: '1+1' }],
  answer: '2',
  metadata: { unit: 'apples' },
  difficulty: null,
};
const rollout: RewardRollout = { text: 'It is 2', answer: '2', ended: true, tokens: 7 };

/** The options of a run on a file of questions that the tests do not differ in. */
const asked = {
  heldOut: '0.2',
  checker: 'number',
  extract: ['whole' as const],
  set: [],
  recipe: 'grpo',
  policy: 'mine',
};

describe('steps', () => {
  /** The script's value, and how many steps it took. */
  const run = (script: string): [unknown, number] => {
    let steps = 0;
    const work = new Function(STEP, `${countSteps(`var f = (() => { ${script} })();`)}; return f;`);
    return [work(() => steps++), steps];
  };

  test('every turn of every kind of loop and every call is one step, and values stay as they are', () => {
    // The arrow around each script is the first step.
    expect(run('let n = 0; for (let i = 0; i < 5; i++) n += i; return n')).toEqual([10, 6]);
    expect(run('let n = 0; while (n < 3) n++; return n')).toEqual([3, 4]);
    expect(run('let n = 0; do n++; while (n < 3); return n')).toEqual([3, 4]);
    expect(run('let n = ""; for (const k in { a: 1, b: 2 }) { n += k } return n')).toEqual(['ab', 3]);
    expect(run('let n = 0; for (const x of [1, 2]) for (const y of [3, 4]) n += x * y; return n')).toEqual([
      21, 7,
    ]);
    expect(run('return [1, 2, 3].map((x) => ({ x })).length')).toEqual([3, 4]);
    expect(run('const f = (a) => (b) => a + b; return f(1)(2)')).toEqual([3, 3]);
    expect(run('class A { #n = 1; get n() { return this.#n } } return new A().n')).toEqual([1, 2]);
    expect(
      run('let n = 0; outer: while (true) { while (true) { if (++n > 2) break outer } } return n'),
    ).toEqual([3, 5]);
  });
});

describe('modules', () => {
  const load = async (name: string, text: string) => {
    const path = write(name, text);
    return loadReward(path, await bundleReward(path));
  };

  test('a TypeScript module with imports rates a rollout', async () => {
    write('helper.ts', 'export const half = (n: number): number => n / 2;');
    const module = await load(
      'short.ts',
      `import { half } from './helper.ts';
       export default (rollout: { tokens: number }, task: { answer: string; metadata: { unit: string } }): number =>
         half(rollout.tokens) + Number(task.answer) + task.metadata.unit.length;`,
    );
    expect(scoreByModule(module, rollout, task)).toBe(3.5 + 2 + 6);
    const named = await load('named.js', 'export const reward = () => null;');
    expect(scoreByModule(named, rollout, task)).toBe('not-rated');
  });

  test('what a module does wrong is missing data by its kind, and the next call is not touched by it', async () => {
    const module = await load(
      'faulty.ts',
      `const forever = (): number => { while (true) { try { for (;;) {} } catch {} } };
       export default ({ text }: { text: string }): unknown => {
         switch (text) {
           case 'throws': throw new Error('no');
           case 'hangs': return forever();
           case 'swallows': try { for (;;) {} } catch { return 1 }
           case 'recurses': { const f = (n: number): number => f(n + 1); return f(0); }
           case 'nan': return Number.NaN;
           case 'infinity': return 1 / 0;
           case 'text': return '1';
           case 'nothing': return undefined;
           case 'promise': return Promise.resolve(1);
           case 'minus zero': return -0;
           default: return 1;
         }
       };`,
    );
    const score = (text: string) => scoreByModule(module, { ...rollout, text }, task);
    expect(score('throws')).toBe('threw');
    expect(score('hangs')).toBe('out-of-steps');
    expect(score('swallows')).toBe('out-of-steps');
    expect(['threw', 'out-of-steps']).toContain(score('recurses'));
    for (const text of ['nan', 'infinity', 'text', 'nothing', 'promise'])
      expect(score(text)).toBe('not-a-number');
    expect(Object.is(score('minus zero'), 0)).toBe(true);
    expect(score('fine')).toBe(1);
  });

  test('a module cannot change the task or the record', async () => {
    const module = await load(
      'changes.js',
      'export default (r, t) => { r.text = ""; t.metadata.unit = 1; return 0; };',
    );
    expect(scoreByModule(module, rollout, task)).toBe(0);
    expect(rollout.text).toBe('It is 2');
    expect(task.metadata.unit).toBe('apples');
  });

  test('what is no pure function is refused, with what it uses', async () => {
    const refused = async (name: string, text: string) => bundleReward(write(name, text));
    await expect(refused('clock.ts', 'export default () => Date.now() * Math.random();')).rejects.toThrow(
      /clock\.ts uses Date, Math\.random\. Expected a pure function.*--reward https/,
    );
    await expect(
      refused('net.ts', 'export default async () => (await fetch("https://x")).status;'),
    ).rejects.toThrow(/uses fetch/);
    await expect(
      refused('node.ts', 'import { readFileSync } from "node:fs"; export default () => readFileSync;'),
    ).rejects.toThrow(/cannot be bundled: Could not resolve "node:fs" \(.*node\.ts:1\).*without Node/);
    await expect(refused('syntax.ts', 'export default (')).rejects.toThrow(
      /cannot be bundled: .*syntax\.ts:1/,
    );
    await expect(bundleReward(join(root, 'none.ts'))).rejects.toThrow(/There is no reward module .*none\.ts/);
    // A library may ask whether there is a process, and a name of one's own is one's own.
    const asks =
      'export default () => { const fetch = 2; return typeof process === "undefined" ? fetch : 0; };';
    expect(scoreByModule(await load('asks.js', asks), rollout, task)).toBe(2);
  });

  test('a regular expression that backtracks for ever is refused, and those that do not are not', async () => {
    const bundled = (name: string, pattern: string) =>
      bundleReward(write(name, `export default ({ text }) => (${pattern}.test(text) ? 1 : 0);`));
    for (const [i, pattern] of ['/^(a+)+$/', '/(?:\\d+[ ,]?)+;/g'].entries())
      await expect(bundled(`endless${i}.js`, pattern)).rejects.toMatchObject({
        code: 'reward.pattern',
        message: expect.stringMatching(/of the reward module .*endless\d\.js backtracks for ever/),
      });
    for (const [i, pattern] of [
      '/(-?\\d+)\\D*$/',
      '/<think>.*<\\/think>\\s*<answer>.*/s',
      '/(?:\\d+,)+/',
    ].entries())
      expect((await bundled(`quick${i}.js`, pattern)).text).toContain('export default');
  });

  test('a module that fails when it is loaded or rates nothing is refused before anything is trained', async () => {
    await expect(load('load.ts', 'throw new Error("not today");')).rejects.toThrow(
      /fails when it is loaded: not today/,
    );
    await expect(load('hang.ts', 'for (;;) {} export default () => 1;')).rejects.toThrow(/out of steps/);
    await expect(load('other.ts', 'export const other = 1;')).rejects.toThrow(/exports no reward/);
    const tried = async (name: string, text: string) => tryReward(name, await load(name, text), [task, task]);
    await expect(tried('a.ts', 'export default () => { throw new Error("no unit"); };')).rejects.toThrow(
      /rates none of the first 2 tasks.*it throws “no unit”\. Expected a finite number/,
    );
    await expect(tried('b.ts', 'export default async () => 1;')).rejects.toThrow(/it gives a promise/);
    await expect(tried('c.ts', 'export default () => { for (;;) {} };')).rejects.toThrow(
      /does not end within 1000000 steps/,
    );
    await tried('d.ts', 'export default () => null;');
  });
});

describe('sums', () => {
  test('names, modules and weights are parsed', () => {
    expect(parseRewards('majority')).toBeNull();
    expect(parseRewards('checker=1,./my/Length.ts=-0.2')).toEqual([
      { name: 'checker', weight: 1, from: { builtIn: 'checker' } },
      { name: 'length', weight: -0.2, from: { module: './my/Length.ts' } },
    ]);
    expect(parseRewards('./length.ts')).toEqual([
      { name: 'length', weight: 1, from: { module: './length.ts' } },
    ]);
    expect(() => parseRewards('cheker=1')).toThrow(/no reward "cheker"\. Expected checker, perhaps/);
    expect(() => parseRewards('checker=0')).toThrow(/weight 0/);
    expect(() => parseRewards('checker=x')).toThrow(/weight x/);
    expect(() => parseRewards('./a/one.ts,./b/one.ts')).toThrow(/Two rewards have the name one/);
    expect(() => parseRewards('./reward.ts')).toThrow(/cannot have the name "reward"/);
    expect(parseRewards('checker,https://example.org/rate/style=0.5')?.[1]).toEqual({
      name: 'style',
      weight: 0.5,
      from: { url: 'https://example.org/rate/style' },
    });
    expect(parseRewards('http://127.0.0.1:9/x')?.[0]?.name).toBe('x');
    expect(() => parseRewards('http://example.org/x')).toThrow(/Expected an https address/);
    expect(() => parseRewards('https://me:secret@example.org/x')).toThrow(/without a password/);
  });

  test('a rubric is named with the exact version that judges by it', () => {
    expect(parseRewards('checker=1,./Kind.rubric.json@words@2=0.5')?.[1]).toEqual({
      name: 'kind',
      weight: 0.5,
      from: { rubric: './Kind.rubric.json', policy: { name: 'words', version: 2 } },
    });
    expect(() => parseRewards('./kind.json=0.5')).toThrow(/is given no judge\. Expected an exact version/);
    expect(() => parseRewards('./kind.json@words')).toThrow(/the judge words\. Expected an exact version/);
    expect(() => parseRewards('./kind.json@Words@1')).toThrow(/the judge Words@1\./);
  });

  test('a reward model is named with its exact version, alone or beside other rewards', () => {
    const model = { name: 'rm', version: 3 };
    expect(parseRewards('rm@3')).toEqual([{ name: 'rm', weight: 1, from: { model } }]);
    expect(parseRewards(joinedRewards('checker=1', ['rm@3=0.5'])!)?.[1]).toEqual({
      name: 'rm',
      weight: 0.5,
      from: { model },
    });
    expect(joinedRewards(undefined, ['rm@3', 'other@0=2'])).toBe('rm@3,other@0=2');
    expect(joinedRewards('checker', [])).toBe('checker');
    expect(() => joinedRewards(undefined, ['rm'])).toThrow(
      /"rm" names no reward model\. Expected an exact version/,
    );
    expect(() => joinedRewards(undefined, ['./x.json@rm@3'])).toThrow(/names no reward model/);
    expect(() => parseRewards('RM@3')).toThrow(/no reward "RM@3"/);
  });

  test('a rubric and its judge are part of the run', async () => {
    const tasks = write(
      'judged.jsonl',
      Array.from({ length: 30 }, (_, i) => `${JSON.stringify({ question: `${i}`, answer: i })}\n`).join(''),
    );
    const rubric = (text: string) =>
      write(
        'kind.json',
        JSON.stringify({
          messages: [{ role: 'user', content: `${text} {{response}}` }],
          grade: { from: 0, to: 1 },
        }),
      );
    const named = async (path: string, judge: string) => {
      const made = await taskRecipe({
        tasks: [tasks],
        ...asked,
        reward: `checker=1,${path}@${judge}=0.5`,
      });
      return made!.recipe.name;
    };
    const first = await named(rubric('Kind?'), 'words@0');
    expect(await named(rubric('Kind?'), 'words@0')).toBe(first);
    expect(await named(rubric('Kind?'), 'words@1')).not.toBe(first);
    expect(await named(rubric('Friendly?'), 'words@0')).not.toBe(first);
    await expect(named(join(root, 'none.json'), 'words@0')).rejects.toThrow(
      /There is no rubric .*none\.json/,
    );
  });

  test('a sum is missing where one of its rewards is, and the report counts why', async () => {
    const parts = [
      { name: 'right', weight: 1, description: '', usesGold: true, score: () => [1, 0, 1] },
      {
        name: 'short',
        weight: 0.5,
        description: '',
        usesGold: true,
        score: () => [0.5, 0.25, 'threw' as const],
      },
    ];
    const evidence = {
      round: 'r',
      group: 'g',
      askService: () => Promise.reject(new Error('no service here')),
      sampleIds: ['a', 'b', 'c'],
      answers: [],
      rollouts: [],
      judged: {},
      measured: {},
      answersExact: () => [],
      task: () => task,
    };
    const paid = await payByReward({ description: '', usesGold: true, parts }, evidence);
    expect(paid).toEqual([
      { rewards: { [TOTAL]: 1.25, right: 1, short: 0.5 } },
      { rewards: { [TOTAL]: 0.125, right: 0, short: 0.25 } },
      { rewards: { [TOTAL]: null, right: 1, short: null }, missing: { short: 'threw' } },
    ]);
    const samples = paid.map((one) => one as Parameters<typeof rewardFigures>[0][number]['samples'][number]);
    expect(rewardFigures([{ samples }])).toEqual({
      'reward.right': 2 / 3,
      'reward.short': 0.375,
      'missing.short.threw': 1,
    });
  });

  test('the module of a recipe has its reward beside it, and another reward is another recipe', async () => {
    const tasks = write(
      'sums.jsonl',
      Array.from(
        { length: 30 },
        (_, i) => `${JSON.stringify({ question: `${i} + 1`, answer: i + 1 })}\n`,
      ).join(''),
    );
    const module = write('brief.ts', 'export default ({ tokens }: { tokens: number }) => -tokens / 100;');
    const read = async (reward?: string) =>
      (await taskRecipe({
        tasks: [tasks],
        ...asked,
        ...(reward === undefined ? {} : { reward }),
      }))!;
    const made = await read(`checker=1,${module}=0.2`);
    const path = await made.write(join(root, 'recipes'));
    // Correcting the file afterwards changes nothing of the run.
    write('brief.ts', 'export default () => 0;');
    const { default: recipe } = (await import(pathToFileURL(path).href)) as { default: Recipe };
    expect(recipe.name).toBe(made.recipe.name);
    expect(Object.keys(recipe.rewards)).toEqual(['weighted', 'checker', 'majority', 'format', 'random']);
    expect(recipe.rewards.weighted).toMatchObject({
      description: '1 × checker + 0.2 × brief',
      usesGold: true,
    });
    const plain = await read('majority');
    expect(plain.data).not.toHaveProperty('rewards');
    expect(plain.recipe.name).toBe((await read()).recipe.name);
    const names = await Promise.all(
      [undefined, `checker=1,${module}=0.2`, `checker=1,${module}=0.3`].map(
        async (reward) => (await read(reward)).recipe.name,
      ),
    );
    expect(new Set([...names, recipe.name]).size).toBe(4);
    expect(() => grpo.make(made.data)).toThrow(/reward module brief .* was not passed in/);
  });
});

test('a rubric, like every file that a user names, is a regular file: a device would be read for ever', async () => {
  await expect(readRubric('/dev/zero')).rejects.toMatchObject({ code: 'file.kind' });
  await expect(readRubric(join(root, 'none.json'))).rejects.toMatchObject({ code: 'rubric.path' });
  await expect(readLines('/dev/zero')).rejects.toMatchObject({ code: 'file.kind' });
  await expect(readLines(join(root, 'none.txt'))).rejects.toMatchObject({ code: 'file.unreadable' });
});
