/**
 * Symmetric BLEU between two short texts (Papineni et al., 2002): how many of each one's n-grams the other has. It measures
 * near-repetition of generated questions, not quality.
 */

/** Longest n-grams that are counted. */
const MAX_ORDER = 4;
/** What an order without a match counts as, so that one missing order does not decide alone (Chen and Cherry, 2014, method 1). */
const NO_MATCH = 0.1;

function counts(tokens: readonly string[], order: number): Map<string, number> {
  const seen = new Map<string, number>();
  for (let i = 0; i + order <= tokens.length; i++) {
    const gram = tokens.slice(i, i + order).join('\u0000');
    seen.set(gram, (seen.get(gram) ?? 0) + 1);
  }
  return seen;
}

/** The geometric mean of the clipped precisions of orders 1 … min(4, length), times exp(1 − reference/candidate) for a shorter candidate. */
export function bleu(candidate: readonly string[], reference: readonly string[]): number {
  const orders = Math.min(MAX_ORDER, candidate.length);
  if (orders === 0 || reference.length === 0) return 0;
  let logs = 0;
  for (let order = 1; order <= orders; order++) {
    const known = counts(reference, order);
    let matched = 0;
    for (const [gram, count] of counts(candidate, order)) matched += Math.min(count, known.get(gram) ?? 0);
    logs += Math.log((matched || NO_MATCH) / (candidate.length - order + 1));
  }
  const brevity = Math.min(1, Math.exp(1 - reference.length / candidate.length));
  return brevity * Math.exp(logs / orders);
}

/** Mean of both directions, over the texts' characters: 1 for equal texts. */
export function charBleu(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  return (bleu(left, right) + bleu(right, left)) / 2;
}
