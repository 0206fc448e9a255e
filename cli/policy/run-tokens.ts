/** `policy score` and `policy generate`: one output for each line of ids; the same arguments give the same bits. */

import { wrongInput } from '../../core/errors.ts';
import type { Completion, PolicyRef, TokenIds, TokenScores } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import { type PolicyText, textOf } from '../../core/renderer/policy-text.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
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
  /** The file of token ids; absent where texts are given. */
  readonly ids?: string;
  /** Texts to go on from, as they are: no chat template is around them. */
  readonly prompt?: readonly string[];
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

/** A completion, with its text where the prompt was a text. */
export interface Sample extends Completion {
  readonly text?: string;
}

const withText = ({ renderer }: PolicyText, completion: Completion, line: TokenIds): Sample => ({
  ...completion,
  text: renderer().textAfter(line, completion.ids),
});

/** Yields the samples of each line, in order. */
export async function* generateLines(
  gateway: GatewayClient,
  ref: PolicyRef,
  { ids, prompt: texts = [], maxNew, samples, temperature, seed, stop }: GenerateRequest,
): AsyncGenerator<Sample[]> {
  if ((ids === undefined) === (texts.length === 0))
    throw wrongInput('generate.prompt', 'One kind of prompt is needed.', {
      expected: 'either --ids FILE or --prompt TEXT',
    });
  const { files } = await fetchVersion(gateway, ref);
  // A checkpoint without a tokenizer goes on from ids.
  const text = ids === undefined ? textOf(files, ref.name) : undefined;
  const lines =
    ids === undefined
      ? texts.map((given) => text!.tokenizer.encode(given))
      : await readTokenLines(ids, configOf(files), maxNew);
  // A text goes on until the policy ends it, as a reader of text expects; ids until what is asked for.
  const ends = text?.renderer().stops ?? [];
  const policy = await openPolicy(ref, files);
  try {
    for (const { from, part } of slices(lines)) {
      const prompts = part.map((line, i) => ({
        ids: line,
        sampleIds: Array.from({ length: samples }, (_, sample) => sampleId(seed, from + i, sample)),
      }));
      const made = await policy.generate(prompts, { maxNew, temperature, stop: [...stop, ...ends] });
      yield* text ? made.map((row, i) => row.map((one) => withText(text, one, part[i]!))) : made;
    }
  } finally {
    await policy.dispose();
  }
}
