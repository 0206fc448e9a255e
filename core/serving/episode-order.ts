/** What a request may say of sampling in an agent's episode: its tokens are trained on, so the run's own settings draw them, and no others. */
import { wrongInput } from '../errors.ts';
import type { PolicyRef, SamplingSettings, TokenIds } from '../policy/policy.ts';

interface Fixed {
  readonly field: string;
  /** The values that change nothing. */
  readonly right: readonly unknown[];
}

const fixedBy = (
  { temperature, topP = 1, topK = 0 }: Omit<SamplingSettings, 'stop'>,
  { engine, weights }: Pick<PolicyRef, 'engine' | 'weights'>,
): readonly Fixed[] => [
  { field: 'temperature', right: [temperature] },
  { field: 'top_p', right: [topP] },
  { field: 'top_k', right: topK ? [topK] : [0, -1] },
  { field: 'n', right: [1] },
  { field: 'best_of', right: [1] },
  { field: 'seed', right: [] },
  { field: 'stop', right: ['[]'] },
  { field: 'ignore_eos', right: [false] },
  { field: 'echo', right: [false] },
  { field: 'prompt_logprobs', right: [] },
  { field: 'engine', right: [engine ?? 'onnx'] },
  { field: 'weights', right: weights ? [weights] : [] },
];

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};

/**
 * Throws `episode.sampling` where the body of a request asks for another way to sample than the run's. `stops`: the token ids that end an
 * answer of this policy anyway, which clients that render prompts themselves send along.
 */
export function expectOwnSampling(
  body: unknown,
  sampling: Omit<SamplingSettings, 'stop'>,
  ref: Pick<PolicyRef, 'engine' | 'weights'>,
  stops: TokenIds,
): void {
  const given = { ...fieldsOf(body), ...fieldsOf(fieldsOf(body).sampling_params) };
  const { stop_token_ids: ends = [] } = given;
  const others = Array.isArray(ends) ? ends.filter((id) => !stops.includes(id)) : [];
  if (others.length)
    throw wrongInput(
      'episode.sampling',
      `stop_token_ids = ${JSON.stringify(others).slice(0, 80)} is not how this run samples.`,
      {
        expected: `some of ${stops.join(', ')}, which end an answer of this policy, or none`,
        next: 'Leave it out: what is trained on is drawn by the settings of the run.',
      },
    );
  for (const { field, right } of fixedBy(sampling, ref)) {
    const value = given[field];
    if (value === undefined || value === null) continue;
    const shown = JSON.stringify(value);
    if (right.includes(value) || right.includes(shown)) continue;
    throw wrongInput('episode.sampling', `${field} = ${shown.slice(0, 80)} is not how this run samples.`, {
      expected: right.length ? `${field} = ${right.join(' or ')}, or nothing` : `no ${field}`,
      next: 'Leave it out: what is trained on is drawn by the settings of the run.',
    });
  }
}
