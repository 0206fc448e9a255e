/** `policy score` and `policy generate`: one output for each line of ids; the same arguments give the same bits. */
import type { GatewayClient } from '../../api/gateway-client.ts';
import type { Completion, PolicyRef, TokenIds, TokenScores } from '../../core/policy.ts';
import { deriveId } from '../../core/random.ts';
import { configOf, openLearner, openPolicy } from './live-policy.ts';
import { fetchVersion } from './stored-version.ts';
import { readTokenLines } from './token-lines.ts';

/** Lines that are computed together; the results of one slice are returned before the next begins. */
const SLICE = 256;

function* slices<T>(items: readonly T[]): Generator<{ from: number; part: readonly T[] }> {
  for (let from = 0; from < items.length; from += SLICE)
    yield { from, part: items.slice(from, from + SLICE) };
}

export interface ScoreRequest {
  readonly ids: string;
  /** Scores by the learner's forward pass. */
  readonly learner: boolean;
}

/** Yields the scores of each line at temperature 1, in order. */
export async function* scoreLines(
  gateway: GatewayClient,
  ref: PolicyRef,
  { ids, learner }: ScoreRequest,
): AsyncGenerator<TokenScores> {
  const { files } = await fetchVersion(gateway, ref);
  const lines = await readTokenLines(ids, configOf(files));
  const scorer = await (learner ? openLearner(files) : openPolicy(ref, files));
  try {
    for (const { part } of slices(lines)) yield* await scorer.score(part);
  } finally {
    await scorer.dispose();
  }
}

export interface GenerateRequest {
  readonly ids: string;
  readonly maxNew: number;
  readonly samples: number;
  /** 0 = greedy. */
  readonly temperature: number;
  readonly seed: number;
  readonly stop: TokenIds;
}

/** A sample's random numbers depend only on the seed, its line and its index in the line, not on other lines or the number of samples. */
const sampleId = (seed: number, line: number, sample: number) =>
  deriveId('policy generate', seed, line, sample);

/** Yields the samples of each line, in order. */
export async function* generateLines(
  gateway: GatewayClient,
  ref: PolicyRef,
  { ids, maxNew, samples, temperature, seed, stop }: GenerateRequest,
): AsyncGenerator<Completion[]> {
  const { files } = await fetchVersion(gateway, ref);
  const lines = await readTokenLines(ids, configOf(files), maxNew);
  const policy = await openPolicy(ref, files);
  try {
    for (const { from, part } of slices(lines)) {
      const prompts = part.map((line, i) => ({
        ids: line,
        sampleIds: Array.from({ length: samples }, (_, sample) => sampleId(seed, from + i, sample)),
      }));
      yield* await policy.generate(prompts, { maxNew, temperature, stop });
    }
  } finally {
    await policy.dispose();
  }
}
