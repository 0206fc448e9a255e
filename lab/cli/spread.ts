/** What the measurements of the records spread by over seeds, and which power the rule has at that spread (decisions/0012-one-rule.md). */
import { deviation, quantile } from 'rollmesh';
import { armsRead } from '../rule/arms-read.ts';
import type { ArmResults, Claim, ClaimedRegistry, Condition } from '../rule/claim.ts';
import { difference } from '../rule/conditions.ts';
import type { JudgedCondition } from '../rule/rule.ts';
import { tPower } from '../rule/t-power.ts';
import type { Judged } from './record.ts';

/** The share of runs in which a true effect is to be found. */
const WANTED = 0.8;

/** What a condition of a record measured, as far as it says something of the rule's power. */
export interface Spread {
  readonly control: boolean;
  readonly seeds: number;
  /** The bound's size. An effect of twice an effect of interest is so far from it, and so is no loss and no drift from the largest that is allowed. */
  readonly bound: number;
  /** Standard deviation over seeds. */
  readonly deviation: number;
  /** Half of the 95 % interval. */
  readonly half: number;
  /** It measures the difference of held-out accuracy between two arms at the end of their runs. */
  readonly ofAccuracy: boolean;
}

const ACCURACIES = ['accuracy', 'sampled', 'forcedWorked'];

function isOfAccuracy(condition: Condition, claim: Claim, results: ArmResults, seeds: number): boolean {
  const [arm, other, ...more] = armsRead(condition, claim);
  if (!arm || !other || more.length) return false;
  const all = Array.from({ length: seeds }, (_, seed) => seed);
  return ACCURACIES.some((figure) =>
    all.every((seed) => condition.measure(results, seed) === difference(arm, other, figure)(results, seed)),
  );
}

/** The spreads of a record's conditions whose measurements are all finite. */
function spreadsOf(known: ClaimedRegistry, { recipe, conditions, arms }: Judged): Spread[] {
  const claim = known.find(recipe).claim;
  const results = Object.fromEntries(arms.map(({ name, runs }) => [name, runs]));
  const spreadOf = ({ measured, interval, control }: JudgedCondition, i: number): Spread => ({
    control: control ?? false,
    seeds: measured.length,
    bound: Math.abs(claim.conditions[i]!.atLeast ?? claim.conditions[i]!.atMost!),
    deviation: deviation(measured, 1),
    half: interval.high - interval.mean,
    ofAccuracy: isOfAccuracy(claim.conditions[i]!, claim, results, measured.length),
  });
  return conditions.map(spreadOf).filter(({ half }) => Number.isFinite(half));
}

export const spreads = (known: ClaimedRegistry, records: readonly Judged[]): readonly Spread[] =>
  records.flatMap((record) => spreadsOf(known, record));

/** The differences of accuracy that all eight seeds measured: what the bound POINTS was chosen for. */
export const ofAccuracy = (all: readonly Spread[]): readonly Spread[] =>
  all.filter(({ ofAccuracy, control, seeds }) => ofAccuracy && !control && seeds === 8);

const KINDS: readonly (readonly [string, (all: readonly Spread[]) => readonly Spread[]])[] = [
  ['differences of accuracy between two arms at the end, eight seeds', ofAccuracy],
  ['all that are no controls, eight seeds', (all) => all.filter((one) => !one.control && one.seeds === 8)],
  [
    'all that are no controls, four seeds or fewer',
    (all) => all.filter((one) => !one.control && one.seeds < 8),
  ],
  ['controls, eight seeds', (all) => all.filter((one) => one.control && one.seeds === 8)],
  ['controls, four seeds or fewer', (all) => all.filter((one) => one.control && one.seeds < 8)],
];

const powerOf = ({ bound, deviation, seeds }: Spread) => tPower(bound, deviation, seeds);

/** The page on the spread: which power the rule has, by kind of condition. */
export const spreadPage = (known: ClaimedRegistry, records: readonly Judged[]): string =>
  [
    '# What measurements spread by over seeds, and the power of the rule',
    '',
    ...spreadTable(known, records),
    '',
  ].join('\n');

export function spreadTable(known: ClaimedRegistry, records: readonly Judged[]): string[] {
  const all = spreads(known, records);
  return [
    '| conditions | number | deviation over seeds, median and upper quartile | the same in bounds | power, median and lower quartile | with less than 80 % | half-width above the bound |',
    '|---|---|---|---|---|---|---|',
    ...KINDS.map(([name, choose]) => {
      const chosen = choose(all);
      const [deviations, ratios] = [
        chosen.map((one) => one.deviation),
        chosen.map((one) => one.deviation / one.bound),
      ];
      const powers = chosen.map(powerOf);
      const two = (values: readonly number[], second: number, write: (value: number) => string) =>
        `${write(quantile(values, 0.5))}, ${write(quantile(values, second))}`;
      const percent = (value: number) => `${Math.round(100 * value)} %`;
      const cells = [
        name,
        chosen.length,
        // Other conditions measure nats, tokens and rounds too.
        choose === ofAccuracy ? two(deviations, 0.75, (value) => value.toFixed(3)) : '–',
        two(ratios, 0.75, (value) => value.toFixed(2)),
        two(powers, 0.25, percent),
        powers.filter((power) => power < WANTED).length,
        chosen.filter(({ half, bound }) => half > bound).length,
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  ];
}
