/** The data of recipes on questions of files, as schemas: the questions, and the settings that every such recipe takes. */
import * as v from 'valibot';
import { EXTRACTIONS } from '../../core/checkers/extract.ts';
import { deriveId } from '../../core/random.ts';
import { shownGrid, storedHeldOut, storedSources } from '../../worlds/file/stored-set.ts';
import { heldOutSamples } from '../evaluate/temperatures.ts';
import { heldOutEpisodes } from '../held-out-episodes.ts';
import { adapterSettings, optimizerEntries } from '../method-settings.ts';
import { curriculumSettings } from './curriculum.ts';
import { TOOL_NAMES } from './tools.ts';

const positive = v.pipe(v.number(), v.minValue(Number.MIN_VALUE), v.finite());
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** What `--set` may change of a solver that trains on questions. */
export const questionSettings = {
  /** Longest answer in tokens, its end included. */
  maxNew: v.optional(count, 256),
  temperature: v.optional(positive, 1),
  /** Passes over a round's batch. */
  epochs: v.optional(count, 1),
  /** The largest number of held-out questions in an evaluation. */
  examined: v.optional(count, 500),
  /** Asks each of them several times at several temperatures, beside the greedy answer and one sample. */
  heldOutSamples: v.exactOptional(heldOutSamples),
  optimizer: v.optional(
    v.strictObject({
      learningRate: v.optional(positive, 1e-5),
      warmup: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 20),
      weightDecay: v.optional(v.pipe(v.number(), v.minValue(0), v.finite()), 0.01),
      clipNorm: v.optional(positive, 1),
      minibatches: v.optional(count, 4),
      ...optimizerEntries,
    }),
    {},
  ),
  /** Draws a question less often while its newest group is all right or all wrong. */
  curriculum: v.exactOptional(curriculumSettings),
  /** Trains low-rank adapters in place of all weights. */
  adapter: v.exactOptional(adapterSettings),
};

/** What `--set` may change beside that of episodes. */
export const episodeSettings = {
  /** Turns of an episode with tools at most, the answer included. */
  toolTurns: v.exactOptional(count),
  /** Asks agents to hold episodes of held-out tasks, too. */
  heldOutEpisodes: v.exactOptional(heldOutEpisodes),
};

/** The tools that a policy may use before it answers. */
export const toolNames = v.exactOptional(v.pipe(v.array(v.picklist(TOOL_NAMES)), v.minLength(1)));

/** Questions and how their answers are parsed, which the data of every recipe on files of questions has. */
export const questionEntries = {
  /** Name of the set of questions, for reports. */
  name: v.pipe(v.string(), v.minLength(1)),
  /** The shipped policy that runs start from where no policy is named. */
  start: v.string(),
  checker: v.string(),
  extract: v.pipe(v.array(v.picklist(EXTRACTIONS)), v.minLength(1)),
  sources: storedSources,
  heldOut: storedHeldOut,
  showsImages: shownGrid,
};

/** The most characters of the name that a recipe's environment is served under, and those that tell its data from other data. */
const NAME = 32;
const TOLD_BY = 10;

/** The name of a recipe that is made from data: the same data gives the same name. */
export function dataName(recipe: string, data: object): string {
  const left = NAME - recipe.length - 1;
  return `${recipe}-${deriveId(recipe, JSON.stringify(data)).slice(0, Math.min(TOLD_BY, left))}`;
}
