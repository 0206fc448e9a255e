/**
 * Beam search by a scorer of unfinished answers, such as a process reward model (Snell et al., "Scaling LLM Test-Time Compute Optimally…",
 * arXiv:2408.03314): each of the beams is gone on with in several ways by a piece of some tokens, and the best of all pieces are the next beams.
 */
import type { TokenIds } from '../../core/policy/policy.ts';
import { type Found, type Search, sampleId } from './sampling.ts';

/** Scores answers, finished or not; higher is better. */
export type ScoreAnswers = (
  answers: readonly { readonly prompt: TokenIds; readonly ids: TokenIds }[],
) => Promise<readonly number[]>;

interface Beam {
  readonly ids: TokenIds;
  readonly ended: boolean;
  readonly score: number;
}

export interface BeamSettings {
  /** Beams that are kept. */
  readonly width: number;
  /** Ways in which each is gone on with. */
  readonly branches: number;
  /** Tokens of a piece. */
  readonly piece: number;
}

/** The best beam of each question, when all of its beams have ended or its budget is spent; the first of equal ones. */
export async function beamSearch(
  { policy, prompts, ends, maxNew, budget, seed }: Search,
  score: ScoreAnswers,
  { width, branches, piece }: BeamSettings,
): Promise<Found[]> {
  const beams: Beam[][] = prompts.map(() => [{ ids: [], ended: false, score: 0 }]);
  const tokens = prompts.map(() => 0);
  for (let from = 0; from < maxNew; from += piece) {
    const open = beams.flatMap((own, q) =>
      tokens[q]! < budget ? own.flatMap((beam, b) => (beam.ended ? [] : [{ q, b, beam }])) : [],
    );
    if (!open.length) break;
    const made = await policy.generate(
      open.map(({ q, b, beam }) => ({
        ids: [...prompts[q]!, ...beam.ids],
        // The first piece begins all beams.
        sampleIds: Array.from({ length: from === 0 ? width * branches : branches }, (_, s) =>
          sampleId(`beam ${from} ${b}`, seed, q, s),
        ),
      })),
      { ...ends, maxNew: Math.min(piece, maxNew - from), temperature: 1 },
    );
    const grown = open.flatMap(({ q, beam }, i) =>
      made[i]!.map(({ ids, stopped }) => {
        tokens[q]! += ids.length;
        return { q, ids: [...beam.ids, ...ids], ended: stopped };
      }),
    );
    const scores = await score(grown.map(({ q, ids }) => ({ prompt: prompts[q]!, ids })));
    for (const q of new Set(open.map((one) => one.q))) {
      const own: Beam[] = grown.flatMap((one, i) => (one.q === q ? [{ ...one, score: scores[i]! }] : []));
      const all = [...beams[q]!.filter(({ ended }) => ended), ...own];
      beams[q] = all.sort((a, b) => rankOf(b) - rankOf(a)).slice(0, width);
    }
  }
  return beams.map((own, q) => ({
    // One that has not ended is no answer, however it is scored.
    ids: (own.find(({ ended }) => ended) ?? own[0]!).ids,
    tokens: tokens[q]!,
  }));
}

/** What cannot be scored comes last. */
const rankOf = ({ score }: Beam): number => (Number.isNaN(score) ? Number.MIN_SAFE_INTEGER : score);
