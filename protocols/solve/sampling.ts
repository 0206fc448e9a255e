/** What every way to search shares: the policy and the questions as tokens, what was drawn, and the budget of tokens. */
import type { Completion, Policy, SamplingSettings, TokenIds } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';

/** What drawing whole answers takes. */
export interface Sampling {
  readonly policy: Pick<Policy, 'generate' | 'score'>;
  /** [questions] */
  readonly prompts: readonly TokenIds[];
  /** What ends an answer. */
  readonly ends: Pick<SamplingSettings, 'stop' | 'grammar'>;
  /** Longest answer in tokens. */
  readonly maxNew: number;
  /** Tokens that a question may take; the answer that exceeds them is still finished. */
  readonly budget: number;
  /** Keys the draws. */
  readonly seed: number | string;
}

export interface Search extends Sampling {
  /** Tokens with which a step of an answer ends; empty where none does. Beams and trees grow by steps. */
  readonly steps: TokenIds;
  /** Whether the tokens after a prompt end an answer, and not a step alone. */
  readonly isEnded: (prompt: TokenIds, ids: TokenIds) => boolean;
}

/** The samples of a question, and the tokens that drawing them took. */
export interface Drawn {
  readonly samples: readonly Completion[];
  readonly tokens: number;
}

/** An answer that a search ended with, and the tokens that the search took. */
export interface Found {
  readonly ids: TokenIds;
  readonly tokens: number;
}

/** The most samples of a question: very short answers would otherwise take thousands. */
const MOST_SAMPLES = 256;

export const sampleId = (name: string, seed: number | string, question: number, sample: number): string =>
  deriveId('solve', name, seed, question, sample);

/** Samples at a temperature until the budget of each question is spent, one at least. [questions] */
export async function drawWithin(search: Sampling, temperature: number): Promise<Drawn[]> {
  const { policy, prompts, ends, maxNew, budget, seed } = search;
  const drawn = prompts.map(() => ({ samples: [] as Completion[], tokens: 0 }));
  for (;;) {
    const open = drawn.flatMap(({ samples, tokens }, q) =>
      tokens < budget && samples.length < MOST_SAMPLES ? [q] : [],
    );
    if (!open.length) return drawn;
    // As many at once as cannot exceed what is left: which samples are drawn does not depend on how many.
    const counts = open.map((q) => {
      const { samples, tokens } = drawn[q]!;
      return Math.max(1, Math.min(MOST_SAMPLES - samples.length, Math.floor((budget - tokens) / maxNew)));
    });
    const made = await policy.generate(
      open.map((q, i) => ({
        ids: prompts[q]!,
        sampleIds: Array.from({ length: counts[i]! }, (_, s) =>
          sampleId(`at ${temperature}`, seed, q, drawn[q]!.samples.length + s),
        ),
      })),
      { ...ends, maxNew, temperature },
    );
    for (const [i, q] of open.entries()) {
      const of = drawn[q]!;
      of.samples.push(...made[i]!);
      of.tokens += made[i]!.reduce((sum, { ids }) => sum + ids.length, 0);
    }
  }
}
