/**
 * What sampling alone buys on the held-out tasks of any recipe: its evaluation, with every greedy answer drawn in another way, by the same version and with
 * nothing trained. The recipe's oracle checks the answers as it always does; the ways know no more than the texts.
 */
import { type Extraction, extractAnswer } from '../../core/checkers/extract.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Completion, GeneratePrompt, SamplingSettings, TokenIds } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { type EvaluationContext, samplingOf } from '../../core/recipe/round-context.ts';
import { majority } from '../../core/rl/rewards/index.ts';
import type { Changes, Evaluation } from '../../core/schema/evaluation.ts';
import { changesOf } from '../../core/statistics/change.ts';
import { powerSample } from './power-sampling.ts';
import { drawWithin, type Sampling } from './sampling.ts';
import type { WayName } from './ways.ts';

export interface RecipeSolveSettings {
  /** Tokens that an answer may take; default eight of the role's longest length. */
  readonly tokens?: number;
  readonly temperatures: readonly number[];
  readonly alphas: readonly number[];
  /** Those of `samples` and `power` that are gone. */
  readonly ways: readonly WayName[];
  readonly seed: number;
  /** Told the name of a way when it begins. */
  readonly begin?: (way: string) => void;
}

/** An evaluation whose greedy answers were drawn in another way. */
export interface RecipeWay {
  readonly way: string;
  /** Mean tokens that an answer took. */
  readonly tokens: number;
  readonly evaluation: Evaluation;
  /** Its changes from the greedy answers, question by question; those of the greedy ones are empty. */
  readonly changes: Changes;
}

/** An answer in the place of a greedy one. */
type Answered = Completion & { readonly tokens: number };
/** [prompts]; `textOf` reads tokens of the role that answers. */
type Answer = (search: Sampling, textOf: (ids: TokenIds) => string) => Promise<Answered[]>;

/** Answers of the longest length that the budget has room for, where it is not named. */
const ANSWERS = 8;

/** Where a vote is looked for in a text. */
const VOTES: readonly Extraction[] = ['boxed', 'answer', 'hashes', 'whole'];

/** The first of the samples that give the answer which most give. */
const voted =
  (temperature: number): Answer =>
  async (search, textOf) =>
    (await drawWithin(search, temperature)).map(({ samples, tokens }) => {
      const votes = samples.map(({ ids, stopped }) => {
        const read = stopped ? extractAnswer(textOf(ids), VOTES) : null;
        return read?.ok ? read.value : null;
      });
      const won = votes.indexOf(majority(votes)?.answer ?? null);
      return { ...samples[Math.max(0, won)]!, tokens };
    });

const single =
  (temperature: number): Answer =>
  async (search) =>
    (await drawWithin({ ...search, budget: 1 }, temperature)).map(({ samples: [one], tokens }) => ({
      ...one!,
      tokens,
    }));

const waysOf = ({ ways, temperatures, alphas }: RecipeSolveSettings): [way: string, answer: Answer][] => [
  ...(ways.includes('samples') ? temperatures : []).flatMap((t): [string, Answer][] => [
    [`one sample at temperature ${t}`, single(t)],
    [`majority at temperature ${t}`, voted(t)],
  ]),
  ...(ways.includes('power') ? alphas : []).map((alpha): [string, Answer] => [
    `power sampling, α = ${alpha}`,
    (search) => powerSample(search, alpha),
  ]),
];

/** `open` opens the evaluation of the version. Throws `solve.recipe` where the recipe's evaluation asks for no greedy answer. */
export async function solveByRecipe(
  recipe: Pick<Recipe, 'name' | 'evaluate'>,
  open: () => EvaluationContext,
  settings: RecipeSolveSettings,
): Promise<RecipeWay[]> {
  const { begin = () => {} } = settings;
  const sampled = new Map<string, Promise<Completion[][]>>();
  const evaluate = async (way: string, answer: Answer | null) => {
    begin(way);
    const spent = { tokens: 0, answers: 0 };
    const evaluation = await recipe.evaluate(answeredBy(open(), answer, settings, sampled, spent));
    return { way, evaluation, spent };
  };
  const greedy = await evaluate('greedy', null);
  if (!greedy.spent.answers)
    throw wrongInput('solve.recipe', `The evaluation of ${recipe.name} asks for no greedy answers.`, {
      expected: 'a recipe whose evaluation does, since other ways to answer take their place',
      next: 'Ask the questions of a file with --tasks FILE.',
    });
  const others = [];
  for (const [way, answer] of waysOf(settings)) others.push(await evaluate(way, answer));
  return [greedy, ...others].map(({ way, evaluation, spent }, i) => ({
    way,
    tokens: spent.tokens / spent.answers,
    evaluation,
    changes: i === 0 ? {} : changesOf(greedy.evaluation, evaluation),
  }));
}

/**
 * The evaluation with its greedy answers drawn by `answer`; null leaves them greedy. What it samples at other temperatures is kept in `sampled`, so that it is the
 * same whatever the way, and drawn once. `spent` counts the answers in the place of greedy ones and the tokens that they took.
 */
function answeredBy(
  context: EvaluationContext,
  answer: Answer | null,
  { tokens: budget, seed }: Pick<RecipeSolveSettings, 'tokens' | 'seed'>,
  sampled: Map<string, Promise<Completion[][]>>,
  spent: { tokens: number; answers: number },
): EvaluationContext {
  return {
    ...context,
    async generate(role, prompts, change = {}) {
      if (!prompts.length) return [];
      const text = await context.textOf(role);
      const { stop, grammar, maxNew, temperature } = {
        ...samplingOf({ recipe: context.recipe, ...text }, role),
        ...change,
      };
      if (temperature !== 0) {
        const key = JSON.stringify([role, prompts, change]);
        const made = sampled.get(key) ?? context.generate(role, prompts, change);
        sampled.set(key, made);
        return made;
      }
      const rows = prompts.flatMap(({ ids, sampleIds }) => sampleIds.map((id) => ({ ids, id })));
      const found: Answered[] = answer
        ? await answer(
            {
              policy: {
                generate: (some: readonly GeneratePrompt[], settings: SamplingSettings) =>
                  context.generate(role, some, settings),
                score: (sequences) => context.score(role, sequences),
              },
              prompts: rows.map(({ ids }) => ids),
              ends: { stop, ...(grammar ? { grammar } : {}) },
              maxNew,
              budget: budget ?? ANSWERS * maxNew,
              seed: `${seed}/${rows[0]!.id}`,
            },
            (ids) => text.tokenizer.decode([...ids]),
          )
        : (await context.generate(role, prompts, change)).flat().map((one) => ({
            ...one,
            tokens: one.ids.length,
          }));
      spent.answers += rows.length;
      for (const { tokens } of found) spent.tokens += tokens;
      const answers = found.values();
      return prompts.map(({ sampleIds }) =>
        sampleIds.map(() => {
          const { tokens: _, ...completion } = answers.next().value!;
          return completion;
        }),
      );
    },
  };
}
