/**
 * How well a token tells answers that are reinforced from answers that are discouraged, by where its gradient lies between the centroids of both sides. A gradient is stood for by
 * v = (1 − p)·h, the row of its own token in the gradient with regard to the output projection, with p the token's probability and h the hidden state that it is drawn from.
 */
import type { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Numbers } from '../../core/rl/types.ts';
import { sameExp } from '../../core/same-exp.ts';

/** What a token's gradient is stood for by: v = scale·state. */
export interface TokenGradient {
  /** [width] */
  readonly state: Float32Array;
  /** 1 − p */
  readonly scale: number;
  /** The advantage of its answer, whose sign is its side. */
  readonly advantage: number;
}

/** Bounds of a weight. */
const WEIGHT = { low: 0.8, high: 1.2 } as const;
/** The least variance of margins that is divided by. */
const LEAST_VARIANCE = 1e-8;

/** The tokens' gradients in one sequence: states [ids · width], logprobs [ids], nats. */
export function gradientsOf(states: Float32Array, logprobs: Numbers, advantage: number): TokenGradient[] {
  const width = states.length / logprobs.length;
  return Array.from(logprobs, (logprob, t) => ({
    state: states.subarray(t * width, (t + 1) * width),
    scale: 1 - sameExp(logprob),
    advantage,
  }));
}

const isOf = (side: 1 | -1, { advantage }: TokenGradient): boolean => side * advantage > 0;

/** Σ w·v / Σ w [width]; zero where no token weighs anything. */
function centroid(tokens: readonly TokenGradient[], weights: Numbers): Float64Array {
  const sum = new Float64Array(tokens[0]!.state.length);
  let total = 0;
  for (const [t, { state, scale }] of tokens.entries()) {
    const weight = weights[t]!;
    if (weight === 0) continue;
    total += weight;
    for (let i = 0; i < sum.length; i++) sum[i]! += weight * scale * state[i]!;
  }
  return total > 0 ? sum.map((value) => value / total) : sum;
}

/** ‖v − μ‖² */
function distance({ state, scale }: TokenGradient, point: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < point.length; i++) sum += (scale * state[i]! - point[i]!) ** 2;
  return sum;
}

/** How margins are measured: against the other side's centroid, or by a token's own side alone. */
export type Contrast = 'both' | 'own';

/**
 * α [tokens], 0 to 1: σ(margin / γ), with margin = ‖v − μ_other‖² − ‖v − μ_own‖² and γ the deviation of the margins of the token's side. Centroids are means over their side, weighted
 * by |A|; then once more by |A|·α, and γ stays. With `own` the margin is minus the distance to one's own centroid, from its mean over the side. 1/2 where A = 0.
 */
export function assignments(tokens: readonly TokenGradient[], contrast: Contrast = 'both'): number[] {
  if (!tokens.length) return [];
  const marginsBy = (weights: Numbers): number[] => {
    const side = (sign: 1 | -1) =>
      centroid(
        tokens,
        tokens.map((token, t) => (isOf(sign, token) ? weights[t]! : 0)),
      );
    const [plus, minus] = [side(1), side(-1)];
    const own = tokens.map((token) => distance(token, isOf(1, token) ? plus : minus));
    if (contrast === 'both')
      return tokens.map((token, t) => distance(token, isOf(1, token) ? minus : plus) - own[t]!);
    const typical = bySide(tokens, own, mean);
    return tokens.map((token, t) => typical(token) - own[t]!);
  };
  const sizes = tokens.map(({ advantage }) => Math.abs(advantage));
  const first = marginsBy(sizes);
  const gamma = bySide(tokens, first, (margins) => {
    const centre = mean(margins);
    return Math.sqrt(Math.max(LEAST_VARIANCE, mean(margins.map((margin) => (margin - centre) ** 2))));
  });
  const alphaOf = (margins: readonly number[]) =>
    tokens.map((token, t) => (token.advantage === 0 ? 0.5 : 1 / (1 + sameExp(-margins[t]! / gamma(token)))));
  const alphas = alphaOf(first);
  return alphaOf(marginsBy(sizes.map((size, t) => size * alphas[t]!)));
}

/** A statistic of some values [tokens] over a token's side. */
function bySide(
  tokens: readonly TokenGradient[],
  values: readonly number[],
  statistic: (values: number[]) => number,
): (token: TokenGradient) => number {
  const [plus, minus] = ([1, -1] as const).map((side) =>
    statistic(values.filter((_, t) => isOf(side, tokens[t]!))),
  ) as [number, number];
  return (token) => (isOf(1, token) ? plus : minus);
}

/** λ [tokens] = 0.8 + 0.4·α; the least where A = 0. */
export const weightsOf = (tokens: readonly TokenGradient[], alphas: Numbers): number[] =>
  tokens.map(({ advantage }, t) =>
    advantage === 0 ? WEIGHT.low : WEIGHT.low + (WEIGHT.high - WEIGHT.low) * alphas[t]!,
  );

/** The weights divided by their mean, so that a mean over tokens becomes Σ λ·loss / Σ λ. [tokens] */
export const selfNormalised = (weights: readonly number[]): number[] => {
  const centre = mean(weights);
  return weights.map((weight) => weight / centre);
};

/** 1 for the half of the tokens with A ≠ 0 that weigh most, the earlier of equal ones; ⌈n/2⌉ of them, otherwise 0 [tokens]. */
export function topHalf(tokens: readonly TokenGradient[], weights: Numbers): number[] {
  const sided = tokens.flatMap(({ advantage }, t) => (advantage === 0 ? [] : [t]));
  const order = [...sided].sort((a, b) => weights[b]! - weights[a]! || a - b);
  const top = new Set(order.slice(0, Math.ceil(order.length / 2)));
  return tokens.map((_, t) => Number(top.has(t)));
}

/** The weights [tokens] of those with A ≠ 0 dealt to them at random, so that they weigh as much together as before; the others keep theirs. */
export function dealtAnew(
  tokens: readonly TokenGradient[],
  weights: readonly number[],
  random: Random,
): number[] {
  const isSided = (t: number) => tokens[t]!.advantage !== 0;
  const dealt = random.shuffle(weights.filter((_, t) => isSided(t))).values();
  return weights.map((weight, t) => (isSided(t) ? dealt.next().value! : weight));
}
