/** The tokens that might have been in the place of one that is there, from the logits of its place. */
import type { Alternative, SamplingSettings, TokenScores } from '../core/policy/policy.ts';

/** Logits from here down are those of tokens that cannot be drawn. */
const HIDDEN = -1e38;

/** What the logits are multiplied by before they become log-probabilities. */
const scaleOf = ({ temperature }: Pick<SamplingSettings, 'temperature'>): number =>
  temperature === 0 ? 1 : 1 / temperature;

/**
 * The most likely tokens, most likely first and of equals the one with the lower id; as many as `settings.alternatives` asks for, or as can be drawn.
 * logits [vocabulary]: those of tokens that cannot be drawn are hidden. Log-probabilities are reckoned from that of the drawn token.
 */
export function alternativesTo(
  id: number,
  logprob: number,
  logits: Float32Array,
  settings: Pick<SamplingSettings, 'alternatives' | 'temperature'>,
): Alternative[] {
  const { alternatives: most = 0 } = settings;
  const best: number[] = [];
  for (const [token, logit] of logits.entries()) {
    if (logit <= HIDDEN || (best.length === most && logit <= logits[best[most - 1]!]!)) continue;
    const at = best.findIndex((other) => logits[other]! < logit);
    best.splice(at < 0 ? best.length : at, 0, token);
    best.length = Math.min(best.length, most);
  }
  const scale = scaleOf(settings);
  return best.map((token) => ({ id: token, logprob: logprob + scale * (logits[token]! - logits[id]!) }));
}

/** What is told of the places of a sequence, beside its scores. */
type Places = Required<Pick<TokenScores, 'alternatives' | 'ranks'>>;

export const noPlaces = (): Places => ({ alternatives: [], ranks: [] });

/** Adds the place of token `id`. `logprob` (nats): its own. logits [vocabulary]: of its place. `most`: how many alternatives are told. */
export function addPlace(
  { alternatives, ranks }: Places,
  id: number,
  logprob: number,
  logits: Float32Array,
  most: number,
): void {
  alternatives.push(alternativesTo(id, logprob, logits, { alternatives: most, temperature: 1 }));
  const own = logits[id]!;
  ranks.push(logits.reduce((rank, logit) => (logit >= own ? rank + 1 : rank), 0));
}

/**
 * Hides the tokens that the grammar or truncation leave out, as the sampler of the graph does (model/onnx/sampler.ts). `allowed`: whether the
 * grammar allows a token; absent = everything. Changes `logits`.
 */
export function hide(
  logits: Float32Array,
  allowed: ((token: number) => boolean) | undefined,
  settings: SamplingSettings,
): void {
  const { temperature, topK = 0, topP = 1 } = settings;
  if (allowed)
    for (let token = 0; token < logits.length; token++)
      if (!allowed(token)) logits[token] = Number.NEGATIVE_INFINITY;
  if (temperature === 0 || (topK === 0 && topP === 1)) return;
  const kept = logits
    .toSorted()
    .reverse()
    .subarray(0, topK || logits.length);
  const weights = kept.map((logit) => Math.exp(scaleOf(settings) * (logit - kept[0]!)));
  const enough = topP * weights.reduce((sum, weight) => sum + weight, 0);
  let [last, mass] = [topP < 1 ? 0 : kept.length - 1, weights[0]!];
  while (mass < enough && last < kept.length - 1) mass += weights[++last]!;
  const least = kept[last]!;
  for (const [token, logit] of logits.entries()) if (logit < least) logits[token] = Number.NEGATIVE_INFINITY;
}
