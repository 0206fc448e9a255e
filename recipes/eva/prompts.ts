/** The creator's part of eva: which prompts are rewritten, and into what. Prompts are string transformations, whose number of words and length vary. */
import * as v from 'valibot';
import type { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import { mean, present } from '../../core/rl/statistics.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { fixedTasks } from '../../worlds/drawn-tasks.ts';
import {
  isHeldOutStyle,
  MAX_WORDS,
  parseStyleTask,
  randomStyleTask,
  randomWord,
  type StyleTask,
  writeStyleTask,
} from '../../worlds/style/family.ts';

/** Prompts of the first round, and the words of each. */
const SEEDS = 96;
const SEED_WORDS = 3;
/** The most words that a response may be asked for. */
const MOST_ASKED = 9;

const rated = v.object({
  task: v.string(),
  /** The best reward among the responses to the prompt, less the mean. */
  regret: finite,
  /** The mean reward. */
  reward: finite,
});
export type Rated = Readonly<v.InferOutput<typeof rated>>;

/** All prompts that were trained on, and what the last round's responses to its prompts earned. */
export const promptBuffer = v.object({ buffer: v.array(v.string()), last: v.array(rated) });
export type PromptBuffer = Readonly<v.InferOutput<typeof promptBuffer>>;

/** The prompts of the first round. */
export const seeds = fixedTasks('eva/seeds', SEEDS, (random) => randomStyleTask(random, SEED_WORDS));

export const bufferIn = (recipeState: unknown): PromptBuffer =>
  readState(promptBuffer, recipeState) ?? { buffer: [...seeds()], last: [] };

/** What the responses to each prompt of a round earned; a prompt without a reward is left out. */
export const ratedOf = (groups: readonly Pick<ScoredGroup, 'task' | 'samples'>[]): Rated[] =>
  groups.flatMap(({ task, samples }) => {
    const rewards = present(samples.map(({ rewards: { reward } }) => reward ?? null));
    if (!rewards.length) return [];
    const reward = mean(rewards);
    return [{ task, regret: Math.max(...rewards) - reward, reward }];
  });

export const HOW = ['regret', 'uniform', 'lowest-reward'] as const;
/** By what the creator chooses: what could still be gained, nothing, or how little is earned. */
export type How = (typeof HOW)[number];

/** The weight with which each prompt is drawn, [prompts], up to a common factor; where every weight would be 0, all have 1. */
export function weightsOf(prompts: readonly Rated[], how: How): number[] {
  const weight = {
    regret: (one: Rated) => one.regret,
    uniform: () => 1,
    'lowest-reward': (one: Rated) => 1 - one.reward,
  };
  const weights = prompts.map(weight[how]);
  return weights.some((each) => each > 0) ? weights : prompts.map(() => 1);
}

/** The prompt with one more word, or with one more word asked for; null where it can have neither. */
function deeper(random: Random, task: StyleTask): StyleTask | null {
  const { least, most, words } = task;
  const longer = words.length < MAX_WORDS ? [{ ...task, words: [...words, randomWord(random)] }] : [];
  const asked = { ...task, least: least + 1, most: Math.max(most, least + 1) };
  const stricter = asked.most <= MOST_ASKED && parseStyleTask(writeStyleTask(asked)).ok ? [asked] : [];
  const ways = [...longer, ...stricter];
  return ways.length ? random.pick(ways) : null;
}

/** Another prompt of as many words, of which as many are asked for: other words, in some order. */
const broader = (random: Random, { least, most, words }: StyleTask): StyleTask | null => {
  const other = parseStyleTask(randomStyleTask(random, words.length));
  return other.ok ? { ...other.value, least, most } : null;
};

/** A prompt rewritten in depth or in breadth, each one time in two; it has a perfect response and is not held out. */
export function evolved(random: Random, prompt: string): string {
  const parsed = parseStyleTask(prompt);
  if (!parsed.ok) throw new Error(`internal: ${prompt} is no prompt: ${parsed.reason}`);
  return drawUntil(
    () => {
      const way = random.bool() ? deeper : broader;
      const task = way(random, parsed.value);
      return task ? writeStyleTask(task) : '';
    },
    (task) => parseStyleTask(task).ok && !isHeldOutStyle(task),
  );
}

/** The next round's prompts: `fresh` of them evolved from the last round's, the others drawn from all that were trained on. */
export function nextPrompts(
  random: Random,
  { buffer, last }: PromptBuffer,
  how: How,
  { count, fresh }: { readonly count: number; readonly fresh: number },
): string[] {
  const weights = weightsOf(last, how);
  const made = Array.from({ length: fresh }, () => evolved(random, last[random.weighted(weights)]!.task));
  return [...made, ...random.shuffle(buffer).slice(0, count - fresh)];
}
