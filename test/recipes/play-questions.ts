/** Plays a round of a recipe on questions of files whose policy writes what a script says, and plans its training. */
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import type { Completion, TokenIds } from '../../core/policy/policy.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { recipeFrom } from '../../recipes/from-files.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { chatOf, SAY } from './say.ts';

export interface Played {
  /** In place of the recipe's data. */
  readonly given?: object;
  readonly recipe: string;
  readonly tasks: number;
  readonly groupSize: number;
  readonly reward?: string;
  readonly variant?: string;
  readonly index?: number;
  readonly recipeState?: unknown;
  /** Log-probability of every token by the start's weights; by those that sampled it has -1, which is the default. */
  readonly atStart?: number;
  /** Log-probability of every token of a text after a prompt, by the policy of a role that measures; default -1. */
  readonly finds?: (role: string, prompt: string, text: string) => number;
  /** What `learn` may ask of the models beside log-probabilities. */
  readonly tools?: Partial<LearnTools>;
  /** The policy's context in tokens; default 1024. */
  readonly positions?: number;
  /** The texts that a role writes to a prompt, one after the other, and again from the first. */
  readonly says: (role: string, prompt: string) => readonly string[];
}

export async function play({
  recipe: name,
  tasks,
  groupSize,
  reward,
  variant,
  index = 1,
  recipeState,
  given = {},
  atStart = -1,
  finds = () => -1,
  positions = 1024,
  tools: more = {},
  says,
}: Played) {
  const chat = chatOf(positions);
  const decode = (ids: readonly number[]) => chat.tokenizer.decode([...ids]);
  const recipe = recipeFrom({ from: name, data: { ...SAY, ...given } });
  const { settings } = runOf(registry([recipe]), {
    recipe: recipe.name,
    seed: 0,
    rounds: 1,
    freeze: [],
    policy: 'p',
    tasks,
    groupSize,
    ...(reward === undefined ? {} : { rewardFunction: reward }),
    ...(variant === undefined ? {} : { variant }),
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), index, index - 1);
  const turns = new Map<string, number>();
  const context = openRoundContext({
    recipe,
    round,
    ...chat,
    recipeState: () => Promise.resolve(recipeState),
    use: (ref, work, role) =>
      work({
        ref,
        generate: async (prompts) =>
          prompts.map(({ ids, sampleIds }) => {
            const prompt = decode(ids);
            const texts = says(role, prompt);
            return sampleIds.map((): Completion => {
              const turn = turns.get(prompt) ?? 0;
              turns.set(prompt, turn + 1);
              const written = chat.tokenizer.encode(`${texts[turn % texts.length]!}<|im_end|>`);
              return { ids: written, logprobs: written.map(() => -1), stopped: true };
            });
          }),
        score: () => Promise.reject(new Error('nothing is scored')),
        measure: async (sequences) =>
          sequences.map(({ prompt, ids }) => ({
            logProbabilities: new Array<number>(ids.length).fill(finds(role, decode(prompt), decode(ids))),
            entropies: ids.map(() => 0),
          })),
        dispose: () => Promise.resolve(),
      }),
  });
  const { proposals, groups } = await playStages(context);
  const tools = {
    decode,
    encode: chat.tokenizer.encode,
    renderer: chat.renderer,
    score: async (_: string, sequences: readonly { ids: readonly number[] }[]) =>
      sequences.map(({ ids }) => new Float32Array(ids.length).fill(atStart)),
    ...more,
  } as unknown as LearnTools;
  const records = { round, proposals, groups, recipeState, version: index - 1 };
  const plan = await planTraining(recipe, records, tools);
  const read = ({ ids }: { readonly ids: TokenIds }) => decode(ids).replace('<|im_end|>', '');
  return { proposals, groups, plan, read, recipe, round };
}
