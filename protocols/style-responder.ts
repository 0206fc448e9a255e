/**
 * A responder on string transformations (worlds/style/family.ts), for recipes that learn from preferences. It responds to the tasks of a round; its
 * responses are parsed, and recorded with their rewards.
 */
import type { LearnTools, Sequence } from '../core/plan/training-plan.ts';
import type { RewardInfo } from '../core/recipe/role.ts';
import { type RoundContext, sampleOf } from '../core/recipe/round-context.ts';
import { mean } from '../core/rl/statistics.ts';
import { rolloutId } from '../core/round/sample-ids.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { parseResponse, STYLE_POINTS, stylePrompt, styleScore } from '../worlds/style/family.ts';

/** The role that responds. */
export const RESPONDER = 'responder';
/** The longest demonstrated response has about forty characters. */
export const RESPONSE_TOKENS = 48;

/** The two controls that what responses are worth must beat. */
export const RESPONSE_CONTROLS = {
  format: { description: 'control: any well-formed response is worth as much as another', usesGold: false },
  random: { description: 'control: a coin says what a response is worth', usesGold: false },
} as const satisfies Readonly<Record<string, RewardInfo>>;

/** The parsed response; null where the text is none. */
export const responseOf = (
  { tokenizer }: Pick<RoundContext, 'tokenizer'>,
  sample: Pick<Sample, 'ids' | 'stopped'>,
) => {
  const parsed = parseResponse(tokenizer.decode(sample.ids));
  return sample.stopped && parsed.ok ? parsed.value : null;
};

/** `round.settings.groupSize` responses to each task. */
export async function respond(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const prompts = tasks.map(({ group, task }) => ({
    ids: tokenizer.encode(stylePrompt(task)),
    sampleIds: Array.from({ length: round.settings.groupSize }, (_, i) => rolloutId(group, RESPONDER, i)),
  }));
  const completions = await context.generate(RESPONDER, prompts);
  return tasks.map((task, t) => {
    const { ids, sampleIds } = prompts[t]!;
    const samples = completions[t]!.map((completion, i) => {
      const outcome =
        responseOf(context, completion) !== null ? 'ok' : completion.stopped ? 'off-grammar' : 'cut-off';
      return sampleOf(context, RESPONDER, sampleIds[i]!, ids, completion, outcome);
    });
    return { round: round.id, ...task, samples };
  });
}

/** Groups with a reward for each response by its sample's id, 0 where it has none. No answer is exact under a rubric, so `answersExact` is null. */
export const rated = (
  groups: readonly RolloutGroup[],
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
      answersExact: group.samples.map(() => null),
      solutionsExact: group.samples.map(() => null),
    };
  });

/** What the figures that describe responses mean. */
export const RESPONSE_FIGURES = {
  points: 'Mean share of the rubric’s five points that a round’s responses get, by the oracle.',
  words: 'Mean number of words in a sampled response to a held-out task.',
} as const;

/** What the oracle says of a round's responses, for the report alone: the mean share of the rubric's points. */
export const pointsOfRound = (groups: readonly ScoredGroup[], decode: LearnTools['decode']): number =>
  mean(
    groups.flatMap(({ task, samples }) =>
      samples.map(({ ids }) => {
        const parsed = parseResponse(decode(ids));
        return parsed.ok ? styleScore(task, parsed.value) / STYLE_POINTS : 0;
      }),
    ),
  );

export const sequenceOf = ({ prompt, ids }: Pick<Sample, 'prompt' | 'ids'>): Sequence => ({ prompt, ids });
