/**
 * Corrections for samples from a distribution other than the trainer's: truncated importance weights, and rejection of ratios outside
 * a band. Both start from log-ratios log π_trainer − log μ_sampler of the sampled tokens, in nats; weights are constants in the loss.
 */
import { positionsByKey } from '../groups.ts';
import { expectSameLength, type Numbers } from '../types.ts';

/** `token`: each token's own ratio · `sequence`: product over the sequence · `geometric`: its per-token geometric mean. */
export type RatioLevel = 'token' | 'sequence' | 'geometric';

/** Bound (nats) on a log-ratio before exp, as in verl. */
const LOG_BOUND = 20;

/** Packed tokens: logRatios [T], mask [T] (0 = not generated; whatever stands there is ignored), sequence [T] = index. */
export interface RatioTokens {
  readonly logRatios: Numbers;
  readonly mask: Numbers;
  readonly sequence: Numbers;
}

/** log π − log μ [T]. */
export function logRatios(trainer: Numbers, sampler: Numbers): number[] {
  expectSameLength('trainer log-probabilities', trainer, 'sampler log-probabilities', sampler);
  return Array.from(trainer, (logprob, t) => logprob - sampler[t]!);
}

/** exp of the log-ratio at the given level, spread over the tokens [T]; 1 where masked. */
export function importanceRatios({ logRatios, mask, sequence }: RatioTokens, level: RatioLevel): number[] {
  expectSameLength('log-ratios', logRatios, 'mask entries', mask);
  expectSameLength('log-ratios', logRatios, 'sequence indices', sequence);
  const ratios = new Array<number>(logRatios.length).fill(1);
  const bounded = (x: number): number => Math.exp(Math.max(-LOG_BOUND, Math.min(LOG_BOUND, x)));
  for (const positions of positionsByKey(sequence).values()) {
    const counted = positions.filter((t) => mask[t] !== 0);
    const total = counted.reduce((sum, t) => sum + logRatios[t]!, 0);
    const whole = bounded(level === 'geometric' ? total / counted.length : total);
    for (const t of counted) ratios[t] = level === 'token' ? bounded(logRatios[t]!) : whole;
  }
  return ratios;
}

/** min(ratio, cap) [T]: truncated importance sampling (TIS). */
export const truncatedWeights = (tokens: RatioTokens, level: RatioLevel, cap: number): number[] =>
  importanceRatios(tokens, level).map((ratio) => Math.min(ratio, cap));

/**
 * 1 keeps, 0 rejects [T]: keeps where the ratio lies in [low, high]. Level `token` rejects single tokens (IcePop), the others whole
 * sequences. Rejected tokens drop out of the loss; truncated weights, if used too, stay what they are.
 */
export const keepInBand = (
  tokens: RatioTokens,
  level: RatioLevel,
  [low, high]: readonly [number, number],
): number[] =>
  importanceRatios(tokens, level).map((ratio, t) =>
    tokens.mask[t] !== 0 && ratio >= low && ratio <= high ? 1 : 0,
  );

/** 1 keeps, 0 rejects [T]: one token's ratio outside [low, high] rejects its whole sequence (MARTI's veto: low 1e-4). */
export function vetoByToken(tokens: RatioTokens, [low, high]: readonly [number, number]): number[] {
  const ratios = importanceRatios(tokens, 'token');
  const keep = new Array<number>(ratios.length).fill(0);
  for (const positions of positionsByKey(tokens.sequence).values()) {
    const counted = positions.filter((t) => tokens.mask[t] !== 0);
    if (counted.every((t) => ratios[t]! >= low && ratios[t]! <= high)) for (const t of counted) keep[t] = 1;
  }
  return keep;
}

/** Share of counted tokens that a keep mask rejects; 0 if none counts. */
export function maskedFraction(keep: Numbers, mask: Numbers): number {
  const counted = Array.from(mask, (m, t) => ({ m, kept: keep[t] !== 0 })).filter(({ m }) => m !== 0);
  return counted.length === 0 ? 0 : counted.filter(({ kept }) => !kept).length / counted.length;
}
