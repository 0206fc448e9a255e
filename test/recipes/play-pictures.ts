/** Plays a round of a recipe on canvases whose policy writes and finds what a script says, in the tokens of its start. */
import { withImages } from '../../core/images/image-tokenizer.ts';
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, type RunOrder, runOf } from '../../recipes/run-order.ts';
import { warmStarts } from '../../worlds/warm-starts.ts';

interface Script extends Partial<Omit<RunOrder, 'recipe'>> {
  readonly recipe: string;
  /** The round's number; default 1. */
  readonly index?: number;
  /** The i-th text that a role writes to a prompt, without what ends it. */
  readonly says: (role: string, prompt: string, i: number) => string;
  /** The log-probability of every token of a text after a prompt, by a role that measures. */
  readonly finds?: (role: string, prompt: string, text: string) => number;
}

export async function playPictures({ recipe: name, index = 1, says, finds = () => 0, ...order }: Script) {
  const recipe = shipped.find(name);
  const tokenizer = withImages(openTokenizer(warmStarts[recipe.startPolicy]!.tokenizer!().json), true);
  const { settings } = runOf(registry([recipe]), {
    seed: 0,
    rounds: 1,
    freeze: [],
    tasks: 1,
    groupSize: 4,
    ...order,
    recipe: name,
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), index, 0);
  const decode = (ids: readonly number[]) => tokenizer.decode([...ids]);
  const context = openRoundContext({
    recipe,
    round,
    tokenizer,
    recipeState: () => Promise.resolve(undefined),
    use: (ref, work, role) =>
      work({
        ref,
        generate: async (prompts) =>
          prompts.map(({ ids, sampleIds }) =>
            sampleIds.map((_, i): Completion => {
              const written = tokenizer.encode(`${says(role, decode(ids), i)}<eos>`);
              return { ids: written, logprobs: written.map(() => -1), stopped: true };
            }),
          ),
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
  const tools = { decode, encode: tokenizer.encode } as unknown as LearnTools;
  const plan = await planTraining(
    recipe,
    { round, proposals, groups, recipeState: undefined, version: 0 },
    tools,
  );
  return { groups, plan, decode, round };
}
