/**
 * A policy that plays back a record. The recipe's own functions, run over it, must come to the record again; and where some
 * samples are drawn anew from the real policy, they must come to the same bits.
 */
import type { Completion, GeneratePrompt, Policy, PolicyRef, SamplingSettings } from '../policy/policy.ts';
import type { Sample } from '../schema/sample.ts';

/** What is played back for a sample that is not in the record, or that had another prompt: no grammar accepts it. */
const NOTHING: Completion = { ids: [], logprobs: [], stopped: false };

const samePrompt = (sample: Sample, { ids }: GeneratePrompt) =>
  sample.prompt.length === ids.length && sample.prompt.every((id, i) => id === ids[i]);

/**
 * `redrawn`: ids of the samples that are drawn again from `live`; all others are played back. `heard` is called with each sample
 * that is played back and the settings under which it was asked for.
 */
export function recordedPolicy(
  ref: PolicyRef,
  record: readonly Sample[],
  redrawn?: { readonly ids: ReadonlySet<string>; readonly live: Policy },
  heard?: (sample: Sample, settings: SamplingSettings) => void,
): Policy {
  const samples = new Map(record.map((sample) => [sample.id, sample]));
  return {
    ref,
    async generate(prompts, settings) {
      const asked = prompts.map((prompt) => ({
        ids: prompt.ids,
        sampleIds: prompt.sampleIds.filter((id) => redrawn?.ids.has(id)),
      }));
      const some = asked.filter(({ sampleIds }) => sampleIds.length > 0);
      const drawn = some.length ? await redrawn!.live.generate(some, settings) : [];
      const fresh = new Map(
        some.flatMap(({ sampleIds }, p) => sampleIds.map((id, s) => [id, drawn[p]![s]!] as const)),
      );
      return prompts.map((prompt) =>
        prompt.sampleIds.map((id) => {
          const drawn = fresh.get(id);
          if (drawn) return drawn;
          const sample = samples.get(id);
          if (!sample || !samePrompt(sample, prompt)) return NOTHING;
          heard?.(sample, settings);
          return { ids: [...sample.ids], logprobs: [...sample.logprobs], stopped: sample.stopped };
        }),
      );
    },
    score: () => Promise.reject(new Error('internal: a record cannot score')),
    dispose: () => Promise.resolve(),
  };
}
