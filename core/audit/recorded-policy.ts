/**
 * A policy that plays back a record. The recipe's own functions, run over it, must come to the record again; and where some
 * samples are drawn anew from the real policy, they must come to the same bits.
 */
import { RollmeshError } from '../errors.ts';
import { measure, measurementKey } from '../policy/measure.ts';
import type { Completion, GeneratePrompt, Policy, PolicyRef, SamplingSettings } from '../policy/policy.ts';
import type { Measurements } from '../schema/measurement.ts';
import type { Proposals, Sample, ScoredGroup } from '../schema/sample.ts';

/** What is played back. */
export interface Played {
  readonly samples: readonly Sample[];
  /** Absent = nothing was measured. */
  readonly measurements?: Measurements | undefined;
}

export const playedGroups = (groups: readonly ScoredGroup[]): Played => ({
  samples: groups.flatMap(({ samples, judgments }) => [...samples, ...judgments]),
  measurements: Object.assign({}, ...groups.map(({ measurements }) => measurements)),
});

/** All that a round's records hold. */
export function playedRound({
  proposals,
  groups,
}: {
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
}): Played {
  const { samples, measurements } = playedGroups(groups);
  return {
    samples: [...proposals.samples, ...samples],
    measurements: { ...proposals.measurements, ...measurements },
  };
}

/** What is played back for a sample that is not in the record, or that had another prompt: no grammar accepts it. */
const NOTHING: Completion = { ids: [], logprobs: [], stopped: false };

const samePrompt = (sample: Sample, { ids }: GeneratePrompt) =>
  sample.prompt.length === ids.length && sample.prompt.every((id, i) => id === ids[i]);

/**
 * `redrawn`: ids of the samples that are drawn again from `live`; all others are played back. `again`: measurements are made again by it, too. `heard` is called with each sample
 * that is played back and the settings under which it was asked for.
 */
export function recordedPolicy(
  ref: PolicyRef,
  { samples: recorded, measurements = {} }: Played,
  redrawn?: { readonly ids: ReadonlySet<string>; readonly live: Policy; readonly again?: true },
  heard?: (sample: Sample, settings: SamplingSettings) => void,
): Policy {
  const samples = new Map(recorded.map((sample) => [sample.id, sample]));
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
    measure: async (sequences) =>
      redrawn?.again
        ? measure(redrawn.live, sequences)
        : sequences.map((sequence) => {
            const measured = measurements[measurementKey(ref, sequence)];
            if (measured) return measured;
            throw new RollmeshError(
              'give-up',
              'record.measurement',
              `The record holds no measurement by ${ref.name}@${ref.version} of a sequence of ${sequence.prompt.length} and ${sequence.ids.length} tokens.`,
            );
          }),
    score: () => Promise.reject(new Error('internal: a record cannot score')),
    dispose: () => Promise.resolve(),
  };
}
