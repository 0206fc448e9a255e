/**
 * The audit of close nodes, whose engines (a GPU, a server) come to other last digits than the mesh's own, so that sampling again comes to
 * other tokens. Their tokens are scored again by the trusted policy instead, and the log-probabilities that the node stated must come within
 * `CLOSE`. This says that the stated log-probabilities are those of the tokens. Whether the tokens were drawn by chance is what the trusted
 * policy's own draws after the same prompts say, over many requests (chance.ts).
 */
import type { Policy, PolicyRef } from '../policy/policy.ts';
import { deriveId } from '../random.ts';
import type { Sample } from '../schema/sample.ts';
import { CLOSE, type Mismatch, NO_MISMATCH, type RoundWork, settingsOf } from '../schema/work.ts';
import { compareDraws, type ScoredTokens } from './chance.ts';
import type { Finding } from './findings.ts';

/** What a token counts that the trusted policy could not have written, nats. */
const IMPOSSIBLE = 1000;

export interface ScoredAgain {
  readonly mismatch: Mismatch;
  /** The first request that is out of bounds; null = all are within. */
  readonly finding: Finding | null;
}

/** The sums of two audits together. */
export const addMismatch = (a: Mismatch, b: Mismatch): Mismatch => ({
  tokens: a.tokens + b.tokens,
  sum: a.sum + b.sum,
  most: Math.max(a.most, b.most),
  drift: a.drift + b.drift,
  squares: a.squares + b.squares,
  slack: a.slack + b.slack,
});

/** Of each sequence, the scores of what follows its prompt. A token that the policy could not have written counts as one in e^1000. */
export async function scoredAfter(
  policy: Policy,
  rows: readonly { readonly prompt: readonly number[]; readonly ids: readonly number[] }[],
): Promise<ScoredTokens[]> {
  const scores = await policy.score(rows.map(({ prompt, ids }) => [...prompt, ...ids]));
  return rows.map(({ prompt }, i) => ({
    logprobs: scores[i]!.logprobs.slice(prompt.length - 1).map((x) => Math.max(-IMPOSSIBLE, x)),
    entropy: scores[i]!.entropy.slice(prompt.length - 1),
  }));
}

/**
 * Scores the samples of some requests again, each by the policy that it names, and has that policy draw after their prompts. A sample that
 * the record does not hold is left out. `seed` must be unknown to the node when it answers: it decides the policy's draws.
 */
export async function scoreAgain(
  use: <T>(ref: PolicyRef, work: (policy: Policy) => Promise<T>) => Promise<T>,
  requests: readonly Pick<RoundWork['work'][number], 'group' | 'samples' | 'settings'>[],
  recorded: (id: string) => Sample | undefined,
  seed: string,
): Promise<ScoredAgain> {
  let total: Mismatch = NO_MISMATCH;
  let finding: Finding | null = null;
  for (const { group, samples, settings } of requests) {
    const own = samples.flatMap((id) => recorded(id) ?? []).filter(({ ids }) => ids.length > 0);
    // All samples of a request are of one policy.
    const [first] = own;
    if (!first) continue;
    const [scores, draws] = await use(first.policy, async (policy) => {
      const prompts = own.map(({ id, prompt }) => ({
        ids: prompt,
        sampleIds: [deriveId('audit draw', seed, id)],
      }));
      const drawn = await policy.generate(prompts, settingsOf({ settings }));
      const drawnRows = own.map(({ prompt }, i) => ({ prompt, ids: drawn[i]![0]!.ids }));
      return [await scoredAfter(policy, own), await scoredAfter(policy, drawnRows)];
    });
    const far = own.map(({ logprobs }, i) =>
      logprobs.map((stated, t) => Math.min(IMPOSSIBLE, Math.abs(stated - scores[i]!.logprobs[t]!))),
    );
    const all = far.flat();
    const sum = all.reduce((a, b) => a + b, 0);
    const most = all.reduce((a, b) => Math.max(a, b), 0);
    total = addMismatch(total, { ...NO_MISMATCH, tokens: all.length, sum, most });
    for (const [i, scored] of scores.entries())
      total = addMismatch(total, { ...NO_MISMATCH, ...compareDraws(scored, draws[i]!) });
    const mean = sum / all.length;
    if (finding || (mean <= CLOSE.mean && most <= CLOSE.most)) continue;
    const worst = far.findIndex((row) => row.includes(most));
    finding = {
      class: 'log-probability',
      group,
      sample: own[worst]!.id,
      message: `Its log-probabilities are ${mean.toPrecision(3)} nats off on average and ${most.toPrecision(3)} at most; a close node may be off by ${CLOSE.mean} and ${CLOSE.most}.`,
    };
  }
  return { mismatch: total, finding };
}
