/**
 * The judge stage: a segmenter cuts what each answer writes before its answer into chunks, a scorer says how important each chunk is, and the tokens
 * of chunks that are not important cost the answer some of its reward. The segmentation and the scores earn what their answer earns.
 */

import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { exactReward, formatReward, payAnswers, randomReward } from '../../protocols/answer-rewards.ts';
import { ask } from '../../protocols/ask.ts';
import { rewardNamed } from '../../protocols/solver.ts';
import { parseGroup } from '../../protocols/verify.ts';
import { beginning } from '../../worlds/arithmetic/aided.ts';
import {
  isFiller,
  parseScores,
  parseSegments,
  rambledArithmetic,
  scorePrompt,
  segmentPrompt,
  TOP_SCORE,
} from '../../worlds/arithmetic/rambling.ts';

export const SEGMENTER = 'segmenter';
export const SCORER = 'scorer';
/** What a token costs that is of no importance, where an exact answer is paid 1. */
export const A_TOKEN = 0.05;

export const rewards = { exact: exactReward, format: formatReward, random: randomReward };

export const VARIANTS = {
  exact: 'tokens cost nothing, and nobody reads the answers: the reward of the answer alone',
  length: 'every token before the answer costs the same, and nobody reads the answers',
  'shuffled-importance': 'scores change places among the chunks of all answers to a task, drawn at random',
} as const;

/** A chunk of an answer: its lines, how many tokens they have, and its score, 1 to 5. */
interface Chunk {
  readonly lines: readonly string[];
  readonly tokens: number;
  readonly score: number;
}

/** The tokens of some chunks, each by how unimportant it is: none where the score is 5, all where it is 1. */
export const unimportantTokens = (chunks: readonly Pick<Chunk, 'tokens' | 'score'>[]): number =>
  chunks.reduce((sum, { tokens, score }) => sum + (tokens * (TOP_SCORE - score)) / (TOP_SCORE - 1), 0);

/** The chunks of a group's answers with the scores of all of them in another order. [answers][chunks] -> the same shape */
function shuffled(group: string, chunks: readonly (readonly Chunk[] | null)[]): (Chunk[] | null)[] {
  const scores = new Random(`${group}/importance`).shuffle(
    chunks.flatMap((each) => (each ?? []).map(({ score }) => score)),
  );
  let next = 0;
  return chunks.map((each) => each?.map((chunk) => ({ ...chunk, score: scores[next++]! })) ?? null);
}

export async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { rewardFunction, variant } = context.round.settings;
  const { encode } = context.tokenizer;
  const tokensOf = (lines: readonly string[]) => encode(beginning(lines)).length;
  const linesGS = groups.map((group) =>
    parseGroup(rambledArithmetic, context, group).map((solution) =>
      solution.ok ? solution.value.steps : null,
    ),
  );
  const read = variant !== 'exact' && variant !== 'length';
  const written = groups.flatMap(({ samples }, g) =>
    samples.flatMap(({ id: of }, s) => {
      const lines = linesGS[g]![s];
      return read && lines?.length ? [{ of, lines }] : [];
    }),
  );
  const segmented = await ask(
    context,
    SEGMENTER,
    written.map(({ of, lines }) => ({
      of,
      prompt: segmentPrompt(lines),
      parse: (text) => parseSegments(lines, text),
    })),
    1,
  );
  const cut = written.flatMap(({ of }, w) => {
    const { parsed } = segmented[w]![0]!;
    return parsed.ok ? [{ of, chunks: parsed.value }] : [];
  });
  const scored = await ask(
    context,
    SCORER,
    cut.map(({ of, chunks }) => ({
      of,
      prompt: scorePrompt(chunks),
      parse: (text) => parseScores(chunks, text),
    })),
    1,
  );
  const chunksOf = new Map(
    cut.flatMap(({ of, chunks }, c) => {
      const { parsed } = scored[c]![0]!;
      if (!parsed.ok) return [];
      return [[of, chunks.map((lines, i) => ({ lines, tokens: tokensOf(lines), score: parsed.value[i]! }))]];
    }),
  );
  const readers = [...segmented, ...scored].flat().map(({ sample }) => sample);

  return groups.map((group, g): ScoredGroup => {
    const paid = payAnswers(rambledArithmetic, rewardNamed(rewards, rewardFunction), context, group);
    const own = group.samples.map(({ id }) => chunksOf.get(id) ?? null);
    const chunksS = variant === 'shuffled-importance' ? shuffled(group.group, own) : own;
    const reward = new Map(
      paid.samples.map((sample, s) => {
        const lines = linesGS[g]![s];
        // What nobody could read is not important: all of it costs.
        const tokens = chunksS[s]
          ? unimportantTokens(chunksS[s])
          : lines
            ? tokensOf(lines)
            : sample.ids.length;
        return [sample.id, sample.rewards.reward! - (variant === 'exact' ? 0 : A_TOKEN * tokens)];
      }),
    );
    return {
      ...paid,
      samples: paid.samples.map((sample) => ({ ...sample, rewards: { reward: reward.get(sample.id)! } })),
      judgments: readers.flatMap((sample) =>
        reward.has(sample.of!) ? [{ ...sample, rewards: { reward: reward.get(sample.of!)! } }] : [],
      ),
    };
  });
}

/** What readers made of a round's answers, for the report alone. */
export function readingFigures(
  groups: readonly ScoredGroup[],
  { decode }: Pick<LearnTools, 'decode'>,
): Record<string, number> {
  const scoresOf = { total: [] as number[], filler: [] as number[] };
  let [asked, understood] = [0, 0];
  for (const { task, samples, judgments } of groups)
    for (const sample of samples) {
      const by = (role: string) => judgments.find((one) => one.of === sample.id && one.role === role);
      const [segmentation, scores] = [by(SEGMENTER), by(SCORER)];
      if (!segmentation) continue;
      asked++;
      const solution = rambledArithmetic.parseSolution(task, decode(sample.ids));
      if (!(solution.ok && scores?.outcome === 'ok')) continue;
      const chunks = parseSegments(solution.value.steps, decode(segmentation.ids));
      const parsed = chunks.ok ? parseScores(chunks.value, decode(scores.ids)) : chunks;
      if (!(chunks.ok && parsed.ok)) continue;
      understood++;
      for (const [c, lines] of chunks.value.entries())
        for (const line of lines) scoresOf[isFiller(line) ? 'filler' : 'total'].push(parsed.value[c]!);
    }
  return {
    ...(asked ? { readable: understood / asked } : {}),
    ...(scoresOf.total.length ? { totalImportance: mean(scoresOf.total) } : {}),
    ...(scoresOf.filler.length ? { fillerImportance: mean(scoresOf.filler) } : {}),
  };
}

/** The samples of a round by the role that wrote them, each with the advantage of the answer that it is or that it is about. */
export const withSharedAdvantages = (
  groups: readonly ScoredGroup[],
  role: string,
  advantages: ReadonlyMap<string, number>,
): { sample: Sample; advantage: number }[] =>
  groups.flatMap(({ samples, judgments }) =>
    [...samples, ...judgments].flatMap((sample) => {
      const advantage = advantages.get(sample.of ?? sample.id);
      return sample.role === role && advantage !== undefined ? [{ sample, advantage }] : [];
    }),
  );
