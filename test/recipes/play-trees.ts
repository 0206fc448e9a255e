/** Plays a round of a recipe on search trees in the world of compositions: the test writes every step, and says what the heads find it worth. */
import { planTraining } from '../../core/plan/plan-training.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import type { Completion, TokenIds } from '../../core/policy/policy.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { bindingsOf, type RunOrder, runOf } from '../../recipes/run-order.ts';
import { compositionTokenizer } from '../../worlds/composition/tokenizer.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';

export const tokenizer = openTokenizer(compositionTokenizer().json);
const decode = (ids: TokenIds) => tokenizer.decode([...ids]);

/** What is written after the question, without it. */
const afterQuestion = (text: string) => text.slice(text.indexOf('? ') + 2);

export interface WrittenTree extends Partial<Omit<RunOrder, 'recipe'>> {
  readonly recipe: Recipe;
  /** Absent: the recipe proposes. */
  readonly task?: string;
  /** The step that follows a text, or a whole prompt that is no question's; `i`: the draws after it so far. */
  readonly write: (before: string, i: number) => string;
  /** What a value head says after a text, and the log-odds of class 1; absent = the version has no heads yet. */
  readonly values?: (text: string) => number;
  readonly odds?: (text: string) => number;
}

export async function playTree({ recipe: given, task, write, values, odds, ...order }: WrittenTree) {
  const recipe: Recipe = task ? { ...given, propose: async ({ round }) => admitTasks(round, [task]) } : given;
  const asked = { seed: 0, rounds: 1, freeze: [], tasks: 1, groupSize: 2, ...order };
  const { settings } = runOf(registry([recipe]), { ...asked, recipe: recipe.name });
  const round = roundOf(settings, bindingsOf(recipe, settings), 1, 0);
  const draws = new Map<string, number>();
  const context = openRoundContext({
    recipe,
    round,
    tokenizer,
    recipeState: () => Promise.resolve(undefined),
    use: (ref, work) =>
      work({
        ref,
        generate: async (prompts, { maxNew, stop, temperature }) =>
          prompts.map(({ ids, sampleIds }) => {
            const prompt = decode(ids);
            const before = prompt.includes('? ') ? afterQuestion(prompt) : prompt;
            return sampleIds.map((): Completion => {
              const i = temperature === 0 ? 0 : (draws.get(before) ?? 0);
              if (temperature !== 0) draws.set(before, i + 1);
              const all = tokenizer.encode(write(before, i));
              const end = all.findIndex((id) => stop.includes(id));
              const written = all.slice(0, Math.min(maxNew, end < 0 ? maxNew : end + 1));
              const stopped = stop.includes(written.at(-1)!);
              return { ids: written, logprobs: written.map(() => -1), stopped };
            });
          }),
        score: () => Promise.reject(new Error('nothing is scored')),
        measure: async (sequences) =>
          sequences.map(({ prompt, ids }) => {
            const text = afterQuestion(decode([...prompt, ...ids]));
            return {
              logProbabilities: ids.map(() => -1),
              entropies: ids.map(() => 0),
              ...(values && ref.set === 'value' ? { values: ids.map(() => values(text)) } : {}),
              ...(odds && ref.set === 'critic' ? { classes: [[0, odds(text)]] } : {}),
            };
          }),
        dispose: () => Promise.resolve(),
      }),
  });
  const { proposals, groups } = await playStages(context);
  const tools = { decode, encode: tokenizer.encode } as unknown as LearnTools;
  const records = { round, proposals, groups, recipeState: undefined, version: 0 };
  return { proposals, groups, round, plan: await planTraining(recipe, records, tools) };
}

/** A text after the question, by its tokens. */
export const written = ({ prompt, ids }: { readonly prompt: TokenIds; readonly ids: TokenIds }): string =>
  afterQuestion(decode([...prompt, ...ids]));
