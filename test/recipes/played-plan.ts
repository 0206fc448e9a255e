/** A round of a recipe, played by its shipped policy with no weights trained: what it pays, what it teaches, what is remembered of it. */
import { join } from 'node:path';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { readPolicyFolder } from '../../model/policy-folder.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';

/** When a round is played, and what the rounds before it left. */
export interface Moment {
  readonly index: number;
  readonly recipeState?: unknown;
}

/** Questions as r-zero's votes label them, the third one wrongly. */
const LABELLED = [
  ['1+2', '3'],
  ['9-4', '5'],
  ['2+2', '5'],
  ['7-3+5', '9'],
  ['8+1-6', '3'],
  ['5-9+2', '-2'],
].map(([task, label]) => ({ task, label, share: 0.6 }));

/** Rounds beyond the first, where a recipe's phases differ in whom they pay and teach; the last is one in which the reward pays. */
export const LATER: Readonly<Record<string, readonly Moment[]>> = {
  'r-zero': [{ index: 8 }, { index: 9, recipeState: LABELLED }],
  tango: [{ index: 13 }],
  prime: [{ index: 9 }],
  'dsmath-v2': [{ index: 2 }, { index: 10 }, { index: 7 }],
  spark: [{ index: 7 }],
  rewardharness: [{ index: 4, recipeState: { rules: ['once', 'az:az'], missed: [] } }],
  'mr-rlvr': [{ index: 7 }],
  fate: [{ index: 6 }],
  asl: [{ index: 2 }, { index: 3 }],
  'rs-eot': [{ index: 5 }, { index: 13 }],
  sws: [{ index: 7, recipeState: { '1+2-3': [0, 0] } }],
};
export const momentsOf = ({ name }: Recipe): readonly Moment[] => [{ index: 1 }, ...(LATER[name] ?? [])];

/** The models' part in `learn`, which gold cannot change. */
const tools = (tokenizer: ReturnType<typeof tokenizerOf>): LearnTools => ({
  decode: (ids) => tokenizer.decode(ids),
  encode: (text) => tokenizer.encode(text),
  renderer: () => {
    throw new Error('no shipped recipe plans with a renderer');
  },
  score: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length).fill(-1)),
  entropies: async (_set, sequences) => sequences.map(({ ids }) => Float32Array.from(ids.keys())),
  values: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length)),
  classes: async (_set, sequences) => sequences.map(() => new Float32Array([-1, -0.5])),
  states: async (_set, sequences) =>
    sequences.map(({ ids }) => Float32Array.from(ids.flatMap((id) => [id % 3, id % 2]))),
  alignment: async (_set, parts) => parts.map((_, i) => (i % 3) / 4 - 0.2),
  trial: async (_set, updates, sequences) =>
    sequences.map(({ ids }) => new Float32Array(ids.length).fill(-1 / (1 + updates.length))),
});

/** What samples carry for the record alone. */
const RECORDED = new Set(['rewards', 'oracle']);
const withoutRecord = (part: object): unknown =>
  JSON.parse(JSON.stringify(part, (key, value) => (RECORDED.has(key) ? undefined : value)));

/** A round of a recipe at a moment of its run, over the recipe's start policy; `policies` are to be disposed of. */
export async function openMoment(
  recipe: Recipe,
  { index, recipeState }: Moment,
  more: {
    readonly seed: number;
    readonly tasks: number;
    readonly rewardFunction?: string;
    readonly variant?: string;
  },
) {
  const order = {
    recipe: recipe.name,
    rounds: 1,
    freeze: [],
    groupSize: 4,
    engine: 'kernels' as const,
    ...more,
  };
  const { settings } = runOf(shipped, order);
  const files = await readPolicyFolder(join('models', recipe.startPolicy));
  const policies = new OpenPolicies(nodeEngines, () => Promise.resolve(files));
  const tokenizer = tokenizerOf(files, settings.policy);
  const round = roundOf(settings, bindingsOf(recipe, settings), index, 0);
  const remember = () => Promise.resolve(recipeState);
  const context = openRoundContext({ recipe, round, tokenizer, recipeState: remember, use: policies.use });
  return { policies, tokenizer, round, context };
}

/** `open`: roles whose training plans are left out. */
export async function playLearn(
  recipe: Recipe,
  rewardFunction: string,
  moment: Moment,
  open: readonly string[] = [],
) {
  const { policies, tokenizer, round, context } = await openMoment(recipe, moment, {
    seed: 3,
    tasks: 4,
    rewardFunction,
  });
  const { recipeState } = moment;
  try {
    const { proposals, groups } = await playStages(context);
    const plan = await planTraining(
      recipe,
      { round, proposals, groups, recipeState, version: 0 },
      tools(tokenizer),
    );
    return {
      /** The oracle's own words. */
      known: groups.map(({ answersExact, solutionsExact }) => ({ answersExact, solutionsExact })),
      paid: groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards)),
      taught: plan.updates
        .flatMap(({ parts }) => parts.filter(({ role }) => !open.includes(role)))
        .map(withoutRecord),
      remembered: plan.recipeState,
    };
  } finally {
    await policies.dispose();
  }
}
