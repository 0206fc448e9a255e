/** A round of a recipe, played by its shipped policy with no weights trained: what it pays, what it teaches, what is remembered of it. */
import { join } from 'node:path';
import { lessonOf } from '../../core/lesson.ts';
import type { Recipe } from '../../core/recipe.ts';
import { playStages } from '../../core/roles/play-stages.ts';
import { openStage } from '../../core/roles/stage.ts';
import { roundOf } from '../../core/schema/round.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import type { LearnTools } from '../../core/training.ts';
import { nodeEngines } from '../../infer/node-engines.ts';
import { OpenPolicies } from '../../infer/open-policies.ts';
import { readSeed } from '../../model/seed-files.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';

/** When a round is played, and what the rounds before it left. */
export interface Moment {
  readonly index: number;
  readonly memory?: unknown;
}

/** The models' part in `learn`, which gold cannot change. */
const tools = (tokenizer: ReturnType<typeof tokenizerOf>): LearnTools => ({
  decode: (ids) => tokenizer.decode(ids),
  encode: (text) => tokenizer.encode(text),
  score: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length).fill(-1)),
  values: async (_set, sequences) => sequences.map(({ ids }) => new Float32Array(ids.length)),
  classes: async (_set, sequences) => sequences.map(() => new Float32Array([-1, -0.5])),
});

/** What samples carry for the record alone. */
const RECORDED = new Set(['rewards', 'oracle']);
const withoutRecord = (part: object): unknown =>
  JSON.parse(JSON.stringify(part, (key, value) => (RECORDED.has(key) ? undefined : value)));

/** `open`: roles whose lessons are left out. */
export async function playLesson(
  recipe: Recipe,
  reward: string,
  { index, memory }: Moment,
  open: readonly string[] = [],
) {
  const order = { recipe: recipe.name, seed: 3, rounds: 1, freeze: [], reward, tasks: 6, group: 4 };
  const { settings } = runOf(shipped, order);
  const files = await readSeed(join('models', recipe.start));
  const policies = new OpenPolicies(nodeEngines, () => Promise.resolve(files));
  const tokenizer = tokenizerOf(files, settings.policy);
  const round = roundOf(settings, bindingsOf(recipe, settings), index, 0);
  const remember = () => Promise.resolve(memory);
  try {
    const stage = openStage({ recipe, round, tokenizer, memory: remember, use: policies.use });
    const { proposals, groups } = await playStages(stage);
    const lesson = await lessonOf(recipe, { round, proposals, groups, memory, version: 0 }, tools(tokenizer));
    return {
      /** The oracle's own words. */
      known: groups.map(({ gold, truth }) => ({ gold, truth })),
      paid: groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards)),
      taught: lesson.updates
        .flatMap(({ parts }) => parts.filter(({ role }) => !open.includes(role)))
        .map(withoutRecord),
      remembered: lesson.memory,
    };
  } finally {
    await policies.dispose();
  }
}
