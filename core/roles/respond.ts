/**
 * A responder on string transformations (core/tasks/style.ts), for recipes that learn from preferences: responses to the tasks
 * of a round, what they say, and how they are recorded with their rewards.
 */

import { mean } from '../rl/statistics.ts';
import { rolloutId } from '../sample-ids.ts';
import type { AdmittedTask, RolledGroup, Sample, ScoredGroup } from '../schema/sample.ts';
import { readResponse, stylePrompt, styleScore } from '../tasks/style.ts';
import type { LearnTools, Sequence } from '../training.ts';
import { type Stage, sampleOf } from './stage.ts';

/** The role that responds. */
export const RESPONDER = 'responder';
/** The longest demonstrated response is of some forty characters. */
export const RESPONSE_TOKENS = 48;
export const STYLE_POINTS = 5;

/** A response, or null where the text is none. */
export const responseOf = (
  { tokenizer }: Pick<Stage, 'tokenizer'>,
  sample: Pick<Sample, 'ids' | 'stopped'>,
) => {
  const reading = readResponse(tokenizer.decode(sample.ids));
  return sample.stopped && reading.ok ? reading.value : null;
};

/** `round.settings.group` responses to each task. */
export async function respond(stage: Stage, tasks: readonly AdmittedTask[]): Promise<RolledGroup[]> {
  const { round, tokenizer } = stage;
  const prompts = tasks.map(({ group, task }) => ({
    ids: tokenizer.encode(stylePrompt(task)),
    sampleIds: Array.from({ length: round.settings.group }, (_, i) => rolloutId(group, RESPONDER, i)),
  }));
  const completions = await stage.generate(RESPONDER, prompts);
  return tasks.map((task, t) => {
    const { ids, sampleIds } = prompts[t]!;
    const samples = completions[t]!.map((completion, i) => {
      const outcome =
        responseOf(stage, completion) !== null ? 'ok' : completion.stopped ? 'off-grammar' : 'cut-off';
      return sampleOf(stage, RESPONDER, sampleIds[i]!, ids, completion, outcome);
    });
    return { round: round.id, ...task, samples };
  });
}

/** Groups with a reward for each response by its sample's id, 0 where it has none. A rubric knows no exact answer: gold is null. */
export const rated = (
  groups: readonly RolledGroup[],
  rewards: ReadonlyMap<string, number | null>,
  judgments: readonly Sample[] = [],
): ScoredGroup[] =>
  groups.map((group) => {
    const ids = new Set(group.samples.map(({ id }) => id));
    return {
      ...group,
      samples: group.samples.map((sample) => {
        const reward = rewards.get(sample.id);
        return { ...sample, rewards: { reward: reward === undefined ? 0 : reward } };
      }),
      judgments: judgments.filter(({ of }) => of !== undefined && ids.has(of)),
      gold: group.samples.map(() => null),
      truth: group.samples.map(() => null),
    };
  });

/** What the oracle says of a round's responses, for its report alone: mean share of the rubric's points. */
export const pointsOfRound = (groups: readonly ScoredGroup[], decode: LearnTools['decode']): number =>
  mean(
    groups.flatMap(({ task, samples }) =>
      samples.map(({ ids }) => {
        const reading = readResponse(decode(ids));
        return reading.ok ? styleScore(task, reading.value) / STYLE_POINTS : 0;
      }),
    ),
  );

export const sequenceOf = ({ prompt, ids }: Sample): Sequence => ({ prompt, ids });
