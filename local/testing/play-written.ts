/** Plays a round of a recipe in which the test writes every completion, so that rewards and the training plan can be worked out by hand. */
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { type RoundSpec, roundOf } from '../../core/schema/round.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { bindingsOf, type RunOrder, runOf } from '../../recipes/run-order.ts';
import { scriptedPolicy, textTokenizer } from './scripted-policy.ts';

export interface WriteOptions extends Partial<Omit<RunOrder, 'recipe'>> {
  /** Number of the round; default 1. */
  readonly index?: number;
  /** The version that it samples from and trains; default the one before the round's number, which is another where a round failed. */
  readonly version?: number;
  /** The recipe state that the previous round left. */
  readonly recipeState?: unknown;
  /** What `learn` may ask of the models; by default it can only decode and encode. */
  readonly tools?: Partial<LearnTools>;
}

export interface PlayedRound {
  readonly round: RoundSpec;
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
  readonly plan: TrainingPlan;
  /** What the ids of samples and of the plan mean: it numbers tokens as they are met, so that each round has its own. */
  readonly tokenizer: Pick<Tokenizer, 'decode' | 'encode'>;
}

/**
 * Plays one round: proposals, rollouts, judgments and the training plan. `write` returns the text of the i-th completion of a prompt, stop token
 * included; every token has a log-probability of -1.
 */
export async function playWritten(
  recipe: Recipe,
  write: (prompt: string, i: number) => string,
  { index = 1, version = index - 1, recipeState, tools = {}, ...order }: WriteOptions = {},
): Promise<PlayedRound> {
  const asked = { seed: 0, rounds: 1, freeze: [], ...order, recipe: recipe.name };
  const { settings } = runOf(registry([recipe]), asked);
  const tokenizer = textTokenizer();
  const round = roundOf(settings, bindingsOf(recipe, settings), index, version);
  const policy = scriptedPolicy(tokenizer, (prompt, _, i) => write(prompt, i));
  const context = openRoundContext({
    recipe,
    round,
    tokenizer,
    recipeState: () => Promise.resolve(recipeState),
    use: (_ref, work) => work(policy),
  });
  const played = await playStages(context);
  const records = { round, ...played, recipeState, version };
  const { decode, encode } = tokenizer;
  return {
    round,
    ...played,
    tokenizer: { decode, encode },
    plan: await planTraining(recipe, records, { ...unasked, decode, encode, ...tools }),
  };
}

const notGiven = (tool: string) => () =>
  Promise.reject(
    new Error(`The training plan asks for \`${tool}\`, which the test did not give: pass it in \`tools\`.`),
  );
const unasked = {
  score: notGiven('score'),
  entropies: notGiven('entropies'),
  values: notGiven('values'),
  classes: notGiven('classes'),
  states: notGiven('states'),
  alignment: notGiven('alignment'),
  trial: notGiven('trial'),
  renderer: () => {
    throw new Error(
      'The training plan asks for `renderer`, which the test did not give: pass it in `tools`.',
    );
  },
};
