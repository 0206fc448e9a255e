/**
 * The judge stage: a segmenter cuts what each answer writes before its answer into chunks, a scorer says how important each chunk is, and the tokens
 * of chunks that are not important cost the answer some of its reward. The segmentation and the scores earn what their answer earns.
 */
import { asking, type Game } from '../../core/game/game.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rendered, solutionOf } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { exactAndControls, payAnswers } from '../../protocols/answer-rewards.ts';
import { ask } from '../../protocols/ask-about-samples.ts';
import { rewardNamed } from '../../protocols/solver.ts';
import { parseGroup } from '../../protocols/verify.ts';

export const SEGMENTER = 'segmenter';
export const SCORER = 'scorer';
/** What an answer of the greatest length costs that is of no importance, where an exact answer is paid 1. */
const LONGEST = 3.2;

export type CompressedGame = Game<'solve' | 'segment' | 'weigh'>;

export const VARIANTS = {
  exact: 'tokens cost nothing, and nobody reads the answers: the reward of the answer alone',
  length: 'every token before the answer costs the same, and nobody reads the answers',
  'shuffled-importance': 'scores change places among the chunks of all answers to a task, drawn at random',
} as const;

/** A chunk of an answer: its lines, how many tokens they have, and how important it is, 0 to 1. */
interface Chunk {
  readonly lines: readonly string[];
  readonly tokens: number;
  readonly importance: number;
}

/** The tokens of some chunks, each by how unimportant it is: none where the importance is 1, all where it is 0. */
export const unimportantTokens = (chunks: readonly Pick<Chunk, 'tokens' | 'importance'>[]): number =>
  chunks.reduce((sum, { tokens, importance }) => sum + tokens * (1 - importance), 0);

/** The chunks of a group's answers with their importances in another order. [answers][chunks] -> the same shape */
function shuffled(group: string, chunks: readonly (readonly Chunk[] | null)[]): (Chunk[] | null)[] {
  const importances = new Random(`${group}/importance`).shuffle(
    chunks.flatMap((each) => (each ?? []).map(({ importance }) => importance)),
  );
  let next = 0;
  return chunks.map((each) => each?.map((chunk) => ({ ...chunk, importance: importances[next++]! })) ?? null);
}

export async function judge(
  game: CompressedGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { family, words, reasoning } = game;
  const { rewardFunction, variant } = context.round.settings;
  const tokensOf = (lines: readonly string[]) => context.tokenizer.encode(reasoning.write(lines)).length;
  const linesGS = groups.map((group) =>
    parseGroup(family, context, group).map((solution) =>
      solution.ok ? reasoning.lines(solution.value) : null,
    ),
  );
  const read = variant !== 'exact' && variant !== 'length';
  const written = groups.flatMap(({ samples }, g) =>
    samples.flatMap(({ id: of }, s) => {
      const lines = linesGS[g]![s];
      return read && lines?.length ? [{ of, ...asking(game, context, 'segment', { lines }) }] : [];
    }),
  );
  const segmented = await ask(context, SEGMENTER, written, 1);
  const cut = written.flatMap(({ of }, w) => {
    const { parsed } = segmented[w]![0]!;
    return parsed.ok
      ? [{ of, chunks: parsed.value, ...asking(game, context, 'weigh', { chunks: parsed.value }) }]
      : [];
  });
  const weighed = await ask(context, SCORER, cut, 1);
  const chunksOf = new Map(
    cut.flatMap(({ of, chunks }, c) => {
      const { parsed } = weighed[c]![0]!;
      if (!parsed.ok) return [];
      return [
        [of, chunks.map((lines, i) => ({ lines, tokens: tokensOf(lines), importance: parsed.value[i]! }))],
      ];
    }),
  );
  const readers = [...segmented, ...weighed].flat().map(({ sample }) => sample);
  const aToken = variant === 'exact' ? 0 : LONGEST / words.solve.maxNew;

  return groups.map((group, g): ScoredGroup => {
    const paid = payAnswers(family, rewardNamed(exactAndControls, rewardFunction), context, group);
    const own = group.samples.map(({ id }) => chunksOf.get(id) ?? null);
    const chunksS = variant === 'shuffled-importance' ? shuffled(group.group, own) : own;
    const reward = new Map(
      paid.samples.map(({ id, ids, rewards: { reward = null } }, s) => {
        const lines = linesGS[g]![s];
        // What nobody could read is not important: all of it costs.
        const tokens = chunksS[s] ? unimportantTokens(chunksS[s]) : lines ? tokensOf(lines) : ids.length;
        return [id, reward === null ? null : reward - aToken * tokens];
      }),
    );
    return {
      ...paid,
      samples: paid.samples.map((sample) => ({ ...sample, rewards: { reward: reward.get(sample.id)! } })),
      judgments: readers.flatMap((sample) => {
        const shared = reward.get(sample.of!);
        return shared === undefined ? [] : [{ ...sample, rewards: { reward: shared } }];
      }),
    };
  });
}

/** What readers made of a round's answers, for the report alone. `isFiller`: whether a line states nothing, where the world can say it. */
export function readingFigures(
  game: CompressedGame,
  groups: readonly ScoredGroup[],
  tools: Pick<LearnTools, 'decode' | 'renderer'>,
  isFiller?: (line: string) => boolean,
): Record<string, number> {
  const family = rendered(game.family, tools);
  const { segment, weigh } = game.words;
  const scores = { total: [] as number[], filler: [] as number[] };
  let [asked, understood] = [0, 0];
  for (const { task, samples, judgments } of groups)
    for (const sample of samples) {
      const by = (role: string) => judgments.find((one) => one.of === sample.id && one.role === role);
      const [segmentation, scoring] = [by(SEGMENTER), by(SCORER)];
      if (!segmentation) continue;
      asked++;
      const solution = solutionOf(family, task, sample, tools);
      if (!(solution.ok && scoring?.outcome === 'ok')) continue;
      const lines = game.reasoning.lines(solution.value);
      const chunks = segment.read(tools.decode(segmentation.ids), { lines }, tools);
      const parsed = chunks.ok
        ? weigh.read(tools.decode(scoring.ids), { chunks: chunks.value }, tools)
        : chunks;
      if (!(chunks.ok && parsed.ok)) continue;
      understood++;
      if (!isFiller) continue;
      for (const [c, chunk] of chunks.value.entries())
        for (const line of chunk) scores[isFiller(line) ? 'filler' : 'total'].push(1 + 4 * parsed.value[c]!);
    }
  return {
    ...(asked ? { readable: understood / asked } : {}),
    ...(scores.total.length ? { totalImportance: mean(scores.total) } : {}),
    ...(scores.filler.length ? { fillerImportance: mean(scores.filler) } : {}),
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
