/** The findings of an audit: its classes of difference, each counted apart, and the bit-by-bit comparison of samples and groups. Pure. */
import { numbersOf } from '../policy/measure.ts';
import type { Measurements } from '../schema/measurement.ts';
import type { Sample, ScoredGroup } from '../schema/sample.ts';

/** In the order in which they are shown: what a record is, where it comes from, what was written, and what was made of it. */
export const AUDIT_CLASSES = [
  'round',
  'hash',
  'seal',
  'provenance',
  'sample-id',
  'version',
  'prompt',
  'token',
  'log-probability',
  'measurement',
  'outcome',
  'reward',
  'oracle',
] as const;
export type AuditClass = (typeof AUDIT_CLASSES)[number];

export interface Finding {
  readonly class: AuditClass;
  /** The group that the sample is in; null = it is one of the round's proposals. */
  readonly group: string | null;
  readonly sample: string | null;
  readonly message: string;
}

/** Counts of what was compared, and what differed. */
export class AuditLedger {
  readonly #checked = new Map<AuditClass, number>();
  readonly findings: Finding[] = [];

  /** Notes one comparison; where it fails, `message` says what was found and what was expected. */
  check(right: boolean, finding: Omit<Finding, 'message'>, message: () => string): boolean {
    this.#checked.set(finding.class, this.checked(finding.class) + 1);
    if (!right) this.findings.push({ ...finding, message: message() });
    return right;
  }

  checked(of: AuditClass): number {
    return this.#checked.get(of) ?? 0;
  }

  differing(of: AuditClass): number {
    return this.findings.filter((finding) => finding.class === of).length;
  }

  /** Findings by group; those about proposals under null. */
  byGroup(): ReadonlyMap<string | null, readonly Finding[]> {
    const groups = new Map<string | null, Finding[]>();
    for (const finding of this.findings)
      groups.set(finding.group, [...(groups.get(finding.group) ?? []), finding]);
    return groups;
  }
}

/** Which classes a comparison covers: those that playing the record back decides, or those that need the model. */
export type Depth = 'record' | 'model';

/** Index of the first place where two lists differ by a bit; -1 where they are the same. */
export function firstDifference(a: readonly number[], b: readonly number[]): number {
  const longest = Math.max(a.length, b.length);
  for (let i = 0; i < longest; i++) if (!Object.is(a[i], b[i])) return i;
  return -1;
}

const sameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const byName = (entries: object = {}) => Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1));

/** Rewards by stream, and why some are missing. */
const sortedRewards = ({ rewards, missing }: Sample) => [byName(rewards), byName(missing)];

/** `recorded` is the mesh's record; `expected` is what the recipe's own functions make of the same round. */
export function compareSample(
  ledger: AuditLedger,
  depth: Depth,
  group: string | null,
  recorded: Sample | undefined,
  expected: Sample | undefined,
): void {
  const at = (of: AuditClass): Omit<Finding, 'message'> => ({
    class: of,
    group,
    sample: recorded?.id ?? expected?.id ?? null,
  });
  if (!recorded || !expected) {
    if (recorded || expected)
      ledger.check(false, at('provenance'), () => (recorded ? 'A sample too many.' : 'A sample is missing.'));
    return;
  }
  if (depth === 'model') {
    const token = firstDifference(recorded.ids, expected.ids);
    ledger.check(token < 0 && recorded.stopped === expected.stopped, at('token'), () =>
      token < 0
        ? 'The completion ends otherwise.'
        : `Token ${token} is ${recorded.ids[token]}, run again ${expected.ids[token]}.`,
    );
    const logprob = firstDifference(recorded.logprobs, expected.logprobs);
    ledger.check(
      logprob < 0,
      at('log-probability'),
      () =>
        `That of token ${logprob} is ${recorded.logprobs[logprob]}, run again ${expected.logprobs[logprob]}.`,
    );
    return;
  }
  const known = ledger.check(
    recorded.id === expected.id,
    at('sample-id'),
    () => `The id, which is the seed, should be ${expected.id}.`,
  );
  if (!known) return;
  ledger.check(
    recorded.role === expected.role &&
      recorded.of === expected.of &&
      recorded.turn === expected.turn &&
      recorded.episode === expected.episode &&
      recorded.about === expected.about,
    at('provenance'),
    () =>
      `It is a ${recorded.role} sample of ${recorded.of ?? 'no other'}, turn ${recorded.turn ?? 'none'}, about ${JSON.stringify(recorded.about ?? null).slice(0, 80)}.`,
  );
  ledger.check(
    sameJson(recorded.policy, expected.policy),
    at('version'),
    () =>
      `It names ${recorded.policy.name}@${recorded.policy.version}, the round ${expected.policy.name}@${expected.policy.version}.`,
  );
  ledger.check(
    firstDifference(recorded.prompt, expected.prompt) < 0,
    at('prompt'),
    () => 'The prompt is not that of its task.',
  );
  ledger.check(
    recorded.outcome === expected.outcome && recorded.logprobs.length === recorded.ids.length,
    at('outcome'),
    () =>
      `Recorded as ${recorded.outcome}, read as ${expected.outcome}, with ${recorded.ids.length} tokens and ${recorded.logprobs.length} log-probabilities.`,
  );
  ledger.check(
    sameJson(sortedRewards(recorded), sortedRewards(expected)),
    at('reward'),
    () => `Recorded ${JSON.stringify(recorded.rewards)}, computed ${JSON.stringify(expected.rewards)}.`,
  );
  if (recorded.oracle || expected.oracle)
    ledger.check(
      sameJson(recorded.oracle, expected.oracle),
      at('oracle'),
      () => 'The exact checker says otherwise of what it judges.',
    );
}

/** Measurements under the same keys have to be the same numbers, bit by bit. */
export function compareMeasurements(
  ledger: AuditLedger,
  group: string | null,
  recorded: Measurements = {},
  expected: Measurements = {},
): void {
  for (const key of new Set([...Object.keys(recorded), ...Object.keys(expected)])) {
    const [was, is] = [recorded[key], expected[key]];
    const differs = was && is ? firstDifference(numbersOf(was), numbersOf(is)) : 0;
    ledger.check(differs < 0, { class: 'measurement', group, sample: null }, () =>
      was && is
        ? `Measurement ${key} has ${numbersOf(was)[differs]} at ${differs}, measured again ${numbersOf(is)[differs]}.`
        : `Measurement ${key} is ${was ? 'one too many' : 'missing'}.`,
    );
  }
}

/** Compares everything that a group holds, its samples and judgments included. */
export function compareGroup(
  ledger: AuditLedger,
  depth: Depth,
  recorded: ScoredGroup,
  expected: ScoredGroup,
): void {
  const { group } = expected;
  const whole = (of: AuditClass): Omit<Finding, 'message'> => ({ class: of, group, sample: null });
  if (depth === 'record') {
    const origin = ({ round, group, index, task, proposal }: ScoredGroup) => [
      round,
      group,
      index,
      task,
      proposal,
    ];
    ledger.check(
      sameJson(origin(recorded), origin(expected)),
      whole('provenance'),
      () => `It says round ${recorded.round}, group ${recorded.group}, task ${recorded.task.slice(0, 80)}.`,
    );
    ledger.check(
      sameJson(
        [recorded.answersExact, recorded.solutionsExact],
        [expected.answersExact, expected.solutionsExact],
      ),
      whole('oracle'),
      () => 'The exact checker says otherwise.',
    );
  }
  compareMeasurements(ledger, group, recorded.measurements, expected.measurements);
  for (const part of ['samples', 'judgments'] as const)
    for (let i = 0; i < Math.max(recorded[part].length, expected[part].length); i++)
      compareSample(ledger, depth, group, recorded[part][i], expected[part][i]);
}
