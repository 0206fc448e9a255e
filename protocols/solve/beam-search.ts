/**
 * Beam search by a scorer of unfinished answers, such as a process reward model (Snell et al., "Scaling LLM Test-Time Compute Optimally…",
 * arXiv:2408.03314): each of the beams is gone on with in several ways by a step, and the best of all are the next beams.
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
  /** Tokens of a step at most. */
  readonly step: number;
}

/** The best beam of each question, when all of its beams have ended or its budget is spent; the first of equal ones. */
export async function beamSearch(
  { policy, prompts, ends, steps, isEnded, maxNew, budget, seed }: Search,
  score: ScoreAnswers,
  { width, branches, step }: BeamSettings,
): Promise<Found[]> {
  const beams: Beam[][] = prompts.map(() => [{ ids: [], ended: false, score: 0 }]);
  const tokens = prompts.map(() => 0);
  const roomOf = ({ ids }: Beam) => Math.min(step, maxNew - ids.length);
  for (let turn = 0; ; turn++) {
    const open = beams.flatMap((own, q) =>
      tokens[q]! < budget
        ? own.flatMap((beam, b) => (beam.ended || roomOf(beam) < 1 ? [] : [{ q, b, beam }]))
        : [],
    );
    if (!open.length) break;
    const grown: { q: number; ids: TokenIds; ended: boolean }[] = [];
    // A call has one bound on new tokens.
    for (const room of new Set(open.map(({ beam }) => roomOf(beam)))) {
      const some = open.filter(({ beam }) => roomOf(beam) === room);
      const made = await policy.generate(
        some.map(({ q, b, beam }) => ({
          ids: [...prompts[q]!, ...beam.ids],
          // The first step begins all beams.
          sampleIds: Array.from({ length: turn === 0 ? width * branches : branches }, (_, s) =>
            sampleId(`beam ${turn} ${b}`, seed, q, s),
          ),
        })),
        { ...ends, stop: [...ends.stop, ...steps], maxNew: room, temperature: 1 },
      );
      for (const [i, { q, beam }] of some.entries())
        for (const { ids: written } of made[i]!) {
          const ids = [...beam.ids, ...written];
          tokens[q]! += written.length;
          grown.push({ q, ids, ended: isEnded(prompts[q]!, ids) });
        }
    }
    const scores = await score(grown.map(({ q, ids }) => ({ prompt: prompts[q]!, ids })));
    for (const q of new Set(open.map((one) => one.q))) {
      const own: Beam[] = grown.flatMap((one, i) => (one.q === q ? [{ ...one, score: scores[i]! }] : []));
      const all = [...beams[q]!.filter((beam) => beam.ended || roomOf(beam) < 1), ...own];
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
