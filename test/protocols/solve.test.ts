/** Search over a policy of four answers, whose probabilities are known: what each way draws is compared with what it should. */
import { describe, expect, test } from 'vitest';
import type {
  Completion,
  GeneratePrompt,
  Policy,
  SamplingSettings,
  TokenIds,
} from '../../core/policy/policy.ts';
import { deriveId, uniforms } from '../../core/random.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { shareOf, tallyOf } from '../../core/statistics/change.ts';
import { beamSearch } from '../../protocols/solve/beam-search.ts';
import { powerSample } from '../../protocols/solve/power-sampling.ts';
import { drawWithin, type Search } from '../../protocols/solve/sampling.ts';
import { type RecipeSolveSettings, solveByRecipe } from '../../protocols/solve/solve-by-recipe.ts';
import { treeSearch } from '../../protocols/solve/tree-search.ts';

const END = 0;
/** Next-token probabilities after a text: 1 and 2 go on or end. The answers are "1 END", "1 2 END", "2 END" and "2 2 END". */
const NEXT: Readonly<Record<string, readonly [id: number, p: number][]>> = {
  '': [
    [1, 0.6],
    [2, 0.4],
  ],
  '1': [
    [END, 0.3],
    [2, 0.7],
  ],
  '2': [
    [END, 0.9],
    [2, 0.1],
  ],
};
const nextOf = (ids: TokenIds) => NEXT[ids.join(' ')] ?? [[END, 1]];

/** Probabilities at a temperature. */
function tempered(ids: TokenIds, temperature: number): [id: number, p: number][] {
  const raised = nextOf(ids).map(
    ([id, p]) => [id, p ** (1 / Math.max(temperature, 0.01))] as [number, number],
  );
  const total = raised.reduce((sum, [, p]) => sum + p, 0);
  return raised.map(([id, p]) => [id, p / total]);
}

const PROMPT = [9];
let asked = 0;
const policy: Pick<Policy, 'generate' | 'score'> = {
  generate: async (prompts: readonly GeneratePrompt[], { maxNew, temperature, stop }: SamplingSettings) =>
    prompts.map(({ ids: prompt, sampleIds }) =>
      sampleIds.map((sampleId): Completion => {
        const [ids, logprobs]: [number[], number[]] = [[], []];
        const draws = uniforms(sampleId, maxNew);
        while (ids.length < maxNew && !stop.includes(ids.at(-1) ?? -1)) {
          const choices = tempered([...prompt.slice(PROMPT.length), ...ids], temperature);
          let left = draws[ids.length]!;
          let at = 0;
          while (at < choices.length - 1 && left >= choices[at]![1]) {
            left -= choices[at]![1];
            at++;
          }
          const [id, p] = choices[at]!;
          ids.push(id);
          logprobs.push(Math.log(p));
        }
        asked += ids.length;
        return { ids, logprobs, stopped: ids.at(-1) === END };
      }),
    ),
  score: async (sequences) =>
    sequences.map((sequence) => {
      const logprobs = sequence
        .slice(1)
        .map((id, t) =>
          Math.log(tempered(sequence.slice(PROMPT.length, t + 1), 1).find(([one]) => one === id)![1]),
        );
      return { logprobs, entropy: logprobs.map(() => 0) };
    }),
};

const search = (questions: number, changes: Partial<Search> = {}): Search => ({
  policy,
  prompts: Array.from({ length: questions }, () => PROMPT),
  ends: { stop: [END] },
  steps: [],
  isEnded: (_prompt, ids) => ids.at(-1) === END,
  maxNew: 3,
  budget: 60,
  seed: 0,
  ...changes,
});

/** Probabilities of the four answers, each raised to a power, normalised: worked from the table above. */
const answers = { '1 0': 0.6 * 0.3, '1 2 0': 0.6 * 0.7, '2 0': 0.4 * 0.9, '2 2 0': 0.4 * 0.1 };
const powered = (alpha: number) => {
  const raised = Object.entries(answers).map(([text, p]) => [text, p ** alpha] as const);
  const total = raised.reduce((sum, [, p]) => sum + p, 0);
  return Object.fromEntries(raised.map(([text, p]) => [text, p / total]));
};

const sharesOf = (found: readonly { readonly ids: TokenIds }[]) => {
  const shares: Record<string, number> = Object.fromEntries(Object.keys(answers).map((text) => [text, 0]));
  for (const { ids } of found) shares[ids.join(' ')]! += 1 / found.length;
  return shares;
};

describe('power sampling', () => {
  test.each([1, 2, 4])('draws answers from p^%d', async (alpha) => {
    const shares = sharesOf(await powerSample(search(2000, { budget: 20 }), alpha));
    // The standard error of a share of 2000 is at most 0.0112.
    for (const [text, p] of Object.entries(powered(alpha)))
      expect(Math.abs(shares[text]! - p)).toBeLessThan(0.045);
  });

  test('is not what a low temperature draws', async () => {
    // Token by token at 1/4 the first choice is 1 with .6⁴ / (.6⁴ + .4⁴) = .835; as a whole "2 END" is as likely as p says, .36⁴ of all.
    const cold = (await drawWithin(search(1500, { budget: 1 }), 1 / 4)).map(({ samples }) => samples[0]!);
    const begins = cold.filter(({ ids }) => ids[0] === 1).length / cold.length;
    expect(begins).toBeCloseTo(0.835, 1);
    expect(powered(4)['1 0']! + powered(4)['1 2 0']!).toBeCloseTo(0.65, 1);
  });

  test('takes the tokens that it says, as many as the budget on average', async () => {
    asked = 0;
    const found = await powerSample(search(40, { budget: 20 }), 2);
    const tokens = found.reduce((sum, one) => sum + one.tokens, 0);
    expect(tokens).toBe(asked);
    expect(tokens / 40).toBeGreaterThanOrEqual(20);
    expect(tokens / 40).toBeLessThan(23);
    for (const { ids, tokens } of await powerSample(search(5, { budget: 1 }), 2))
      expect(tokens).toBe(ids.length);
  });
});

test('samples are drawn until the budget is spent, and a larger one begins with the same', async () => {
  asked = 0;
  const few = await drawWithin(search(4, { budget: 9 }), 1);
  expect(few.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(asked);
  for (const { tokens, samples } of few) {
    expect(tokens).toBe(samples.reduce((sum, { ids }) => sum + ids.length, 0));
    expect(tokens).toBeGreaterThanOrEqual(9);
    expect(tokens - samples.at(-1)!.ids.length).toBeLessThan(9);
  }
  const many = await drawWithin(search(4, { budget: 40 }), 1);
  for (const [q, { samples }] of few.entries())
    expect(many[q]!.samples.slice(0, samples.length)).toEqual(samples);
  // One token is enough of a budget for one answer.
  expect((await drawWithin(search(1, { budget: 1 }), 1))[0]!.samples).toHaveLength(1);
});

describe('beam search', () => {
  /** Prefers what holds the most twos, and what begins with 1. */
  const twos = async (rows: readonly { readonly ids: TokenIds }[]) =>
    rows.map(({ ids }) => ids.filter((id) => id === 2).length + (ids[0] === 1 ? 0.5 : 0));

  test('ends with the answer that the scorer finds best among those that have ended', async () => {
    const shares = sharesOf(await beamSearch(search(300), twos, { width: 2, branches: 8, step: 1 }));
    // Both beams begin with 2, which of sixteen beginnings at least two are but for one time in three hundred. Of sixteen ways on none is 2 with .9^16 = .185;
    // else "2 2 END" is best.
    expect(shares['2 2 0']! + shares['2 0']!).toBeGreaterThan(0.98);
    expect(Math.abs(shares['2 2 0']! - (1 - 0.9 ** 16))).toBeLessThan(0.09);
  });

  test('keeps answers that have ended while others go on, and ends with none that has not', async () => {
    const short = async (rows: readonly { readonly ids: TokenIds }[]) =>
      rows.map(({ ids }) => Number(ids.join(' ') === '1 0'));
    const shares = sharesOf(await beamSearch(search(300), short, { width: 8, branches: 1, step: 1 }));
    // Each of eight beams is "1 END" with .6 · .3.
    expect(Math.abs(shares['1 0']! - (1 - 0.82 ** 8))).toBeLessThan(0.09);
    // After two tokens of each of eight beams the budget is spent: one has ended but for .46^8, and "1 2" and "2 2" are scored higher.
    const spent = await beamSearch(search(300, { budget: 16 }), twos, { width: 8, branches: 1, step: 1 });
    expect(spent.filter(({ ids }) => ids.at(-1) === END).length / 300).toBeGreaterThan(0.97);
  });

  test('takes the tokens that it says, ends at the budget, and leaves out what cannot be scored', async () => {
    asked = 0;
    const found = await beamSearch(search(3, { budget: 4 }), twos, { width: 1, branches: 4, step: 1 });
    expect(found.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(asked);
    for (const { tokens } of found) expect(tokens).toBe(4);
    const unscored = await beamSearch(
      search(20),
      async (rows) => rows.map(({ ids }) => (ids[0] === 1 ? Number.NaN : 0)),
      { width: 1, branches: 16, step: 3 },
    );
    for (const { ids } of unscored) expect(ids[0]).toBe(2);
  });
});

describe('tree search', () => {
  /** What a process reward model would say that wants "1 2 END": 1 is better than 2 at first, and only that answer is right. */
  const wanted = async (rows: readonly { readonly ids: TokenIds }[]) =>
    rows.map(({ ids }) => ({ '1': 0.6, '2': 0.2, '1 0': 0.1, '1 2': 0.9, '1 2 0': 1 })[ids.join(' ')] ?? 0);

  test('ends with the answer that the scorer finds best, which it is led to by what it says of steps', async () => {
    const shares = sharesOf(await treeSearch(search(300, { budget: 6 }), wanted, { branches: 2, step: 1 }));
    // Two draws below the question, two below "1" where either is 1, and two below "1 2" where either is 2: at c = .2 nothing else promises as much. Samples of
    // six tokens, two or three of them, have this answer with 1 − .58² to 1 − .58³, .66 to .80.
    expect(Math.abs(shares['1 2 0']! - (1 - 0.4 ** 2) * (1 - 0.3 ** 2))).toBeLessThan(0.09);
  });

  test('takes the tokens that it says, and goes no further beyond the budget than its last draws', async () => {
    asked = 0;
    const found = await treeSearch(search(20, { budget: 9 }), wanted, { branches: 2, step: 1 });
    expect(found.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(asked);
    for (const { tokens } of found) {
      expect(tokens).toBeGreaterThanOrEqual(9);
      expect(tokens).toBeLessThanOrEqual(10);
    }
  });

  test('what cannot be scored comes last, and a search without a budget is refused', async () => {
    const unscored = async (rows: readonly { readonly ids: TokenIds }[]) =>
      rows.map(({ ids }) => (ids[0] === 1 ? Number.NaN : 0.5));
    for (const { ids } of await treeSearch(search(20), unscored, { branches: 8, step: 3 }))
      expect(ids[0]).toBe(2);
    const none = treeSearch(search(1, { budget: Number.POSITIVE_INFINITY }), wanted, {
      branches: 2,
      step: 1,
    });
    await expect(none).rejects.toMatchObject({ code: 'trees.budget' });
    const broken = async () => [Number.POSITIVE_INFINITY, 0];
    await expect(treeSearch(search(1), broken, { branches: 2, step: 1 })).rejects.toMatchObject({
      code: 'trees.estimate',
    });
  });
});

test('a step ends with a token of its own, and beams and trees grow by whole steps', async () => {
  // With 1 as the end of a step, "1 END" is two steps and "2 END" is one.
  const lengths = new Set<number>();
  const seen = async (rows: readonly { readonly ids: TokenIds }[]) =>
    rows.map(({ ids }) => {
      lengths.add(ids.length);
      return Number(ids[0] === 1);
    });
  const steps = search(8, { steps: [1], budget: 30 });
  for (const { ids } of await treeSearch(steps, seen, { branches: 2, step: 3 })) expect(ids[0]).toBe(1);
  expect(lengths.has(1)).toBe(true);
  lengths.clear();
  for (const { ids } of await beamSearch(steps, seen, { width: 1, branches: 4, step: 3 }))
    expect([ids[0], ids.at(-1)]).toEqual([1, END]);
  expect(lengths.has(1)).toBe(true);
});

describe('the evaluation of a recipe, with its greedy answers drawn in other ways', () => {
  const N = 400;
  const recipe = {
    name: 'fours',
    stop: 'end',
    roles: { solver: { sampling: { maxNew: 3, temperature: 1 } } },
  };
  const tokenizer = { id: () => END, decode: (ids: TokenIds) => ids.join(' ') };
  let generated: number[] = [];
  /** "2 END" is right. Each question is asked greedily and, unless `changes` says otherwise, sampled. */
  const solve = (changes: Partial<RecipeSolveSettings>, temperatures: readonly number[] = [0, 1]) =>
    solveByRecipe(
      {
        name: recipe.name,
        evaluate: async ({ generate }) => {
          const shares = [];
          for (const temperature of temperatures) {
            const prompts = Array.from({ length: N }, (_, q) => ({
              ids: PROMPT,
              sampleIds: [deriveId('q', temperature, q)],
            }));
            const made = await generate('solver', prompts, { temperature });
            shares.push(tallyOf(made.map(([one]) => one!.stopped && one!.ids.join(' ') === '2 0')));
          }
          const [accuracy, sampled] = shares.map(shareOf);
          return evaluation({
            n: N,
            accuracy: accuracy!,
            sampled: sampled ?? null,
            tallies: { accuracy: shares[0]! },
          });
        },
      },
      () => {
        const context = {
          recipe,
          tokenizer,
          textOf: async () => ({ tokenizer, contextLength: 99 }),
          generate: (_: string, prompts: readonly GeneratePrompt[], settings: SamplingSettings) => {
            generated.push(settings.temperature);
            return policy.generate(prompts, { ...ROLE, ...settings });
          },
          score: (_: string, sequences: readonly TokenIds[]) => policy.score(sequences),
        };
        return context as unknown as EvaluationContext;
      },
      { ways: ['samples', 'power'], temperatures: [], alphas: [], seed: 0, ...changes },
    );

  /** What the role of the recipe samples with where nothing else is said. */
  const ROLE: Partial<SamplingSettings> = { maxNew: 3, stop: [END] };

  test('each way answers by its own distribution, and what is sampled anyway is drawn once', async () => {
    generated = [];
    const ways = await solve({ temperatures: [0.25], alphas: [4], tokens: 30 });
    expect(ways.map(({ way }) => way)).toEqual([
      'greedy',
      'one sample at temperature 0.25',
      'majority at temperature 0.25',
      'power sampling, α = 4',
    ]);
    const [greedy, single, majority, power] = ways.map(({ evaluation: { heldOut } }) => heldOut.accuracy);
    // Greedily "1 2 END". Token by token at 1/4 it is .4⁴ / (.4⁴ + .6⁴) = .165; as a whole .36⁴ of all, .343. The standard error is .024 at most.
    expect(greedy).toBe(0);
    expect(Math.abs(single! - 0.165)).toBeLessThan(0.08);
    expect(Math.abs(power! - powered(4)['2 0']!)).toBeLessThan(0.08);
    // Of ten answers or so, five or more are rarely the one that has .165.
    expect(majority!).toBeLessThan(0.06);
    expect(ways[0]!.tokens).toBe(3);
    expect(ways[1]!.tokens).toBeLessThan(3);
    for (const { tokens } of ways.slice(2)) expect(Math.abs(tokens - 31)).toBeLessThan(2);
    expect(ways[0]!.changes).toEqual({});
    expect(ways[3]!.changes.accuracy!.verdict).toBe('rose');
    expect(new Set(ways.map(({ evaluation: { heldOut } }) => heldOut.sampled)).size).toBe(1);
    expect(generated.filter((temperature) => temperature === 1)).toHaveLength(1);
  });

  test('ways are left out, and the budget is eight answers of the longest length where none is named', async () => {
    const ways = await solve({ ways: ['power'], temperatures: [1], alphas: [1] });
    expect(ways.map(({ way }) => way)).toEqual(['greedy', 'power sampling, α = 1']);
    expect(Math.abs(ways[1]!.tokens - 25)).toBeLessThan(2);
  });

  test('an evaluation without greedy answers is refused by name', async () => {
    await expect(solve({}, [1])).rejects.toMatchObject({ code: 'solve.recipe' });
  });
});
