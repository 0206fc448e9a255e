/** The candidates for a document's continuation: its own, a rewrite of it and what the policy writes; and what each is worth. */
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { bestAgainstWorst } from '../../core/rl/selection/index.ts';
import type { RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { coinOf, sealedGold } from '../../protocols/gold.ts';
import { parseContinuation, parseMarks, prefixOf, suffixOf, truthOf } from '../../worlds/documents/family.ts';
import { STOP } from '../../worlds/worked.ts';

export const AUTHOR = 'author';
export const REWRITER = 'rewriter';

export interface Candidate {
  /** Who wrote it. */
  readonly by: 'document' | 'rewriter' | 'author';
  /** As it was written, with its stop token. */
  readonly text: string;
  /** The document that it would make; null where it is no continuation. */
  readonly document: string | null;
}

type Decoder = Pick<LearnTools, 'decode'>;

/** The document's own continuation first, then those of the group's samples in their order. */
export const candidatesOf = (
  { task, samples }: Pick<RolloutGroup, 'task' | 'samples'>,
  { decode }: Decoder,
): Candidate[] =>
  [
    { by: 'document' as const, text: suffixOf(task) + STOP },
    ...samples.map(({ role, ids }) => ({
      by: role === REWRITER ? ('rewriter' as const) : ('author' as const),
      text: decode(ids),
    })),
  ].map(({ by, text }) => {
    const parsed = parseContinuation(task, text);
    return { by, text, document: parsed.ok ? prefixOf(task) + parsed.value : null };
  });

/** What the judge said of documents: the share of sentences that it calls right, by the document; null where its text is no judgment. */
export type Judged = ReadonlyMap<string, number | null>;

/** Reads a group's judgments, each of which is about a document. */
export function judgedOf(
  judgments: readonly Pick<Sample, 'about' | 'ids'>[],
  { decode }: { readonly decode: (ids: readonly number[]) => string },
): Judged {
  return new Map(
    judgments.map(({ about, ids }) => {
      const parsed = parseMarks(about!, decode(ids));
      return [about!, parsed.ok ? parsed.value : null] as const;
    }),
  );
}

/**
 * What a candidate is worth by the run's reward function, 0 … 1; null where the judge's word is missing. Text that is not a
 * continuation scores 0. Equal texts of a group score the same, so that no text is preferred to itself.
 */
export function worthOf(
  { recipe, round }: Pick<RoundContext, 'recipe' | 'round'>,
  { group }: Pick<RolloutGroup, 'group'>,
  { document }: Candidate,
  judged: Judged,
): number | null {
  const { rewardFunction } = round.settings;
  if (document === null) return 0;
  if (rewardFunction === 'format') return 1;
  if (rewardFunction === 'random') return Number(coinOf(`${group}/${document}`));
  if (rewardFunction === 'truth') return sealedGold({ recipe, round }, truthOf(document))();
  return judged.get(document) ?? null;
}

/** The best of a group's candidates and the worst, ties broken at random; null where all are worth the same. worths [candidates] */
export function bestAndWorst(
  group: string,
  candidates: readonly Candidate[],
  worths: readonly (number | null)[],
): { readonly best: Candidate; readonly worst: Candidate } | null {
  const order = new Random(`candidates/${group}`).shuffle(candidates.map((_, i) => i));
  const pair = bestAgainstWorst(order.map((i) => worths[i]!));
  return pair && { best: candidates[order[pair.chosen]!]!, worst: candidates[order[pair.rejected]!]! };
}
