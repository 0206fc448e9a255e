/**
 * Makes docs/co-training.md and its picture from the records: what training a solver's partner buys over freezing it, for every recipe
 * whose claim has both arms.
 */
import { claimOf, type Partner } from '../../core/claims/claim.ts';
import { figureOf } from '../../core/claims/curves.ts';
import type { Registry } from '../../core/registry.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Summary } from '../../core/schema/summary.ts';
import { tInterval } from '../../core/statistics/t-interval.ts';
import { intervalChart } from '../charts/interval-chart.ts';
import type { Judged } from './record.ts';
import type { Sized } from './sizes.ts';

type Interval = ReturnType<typeof tInterval>;

/** Points that the trained partner's arm ends above the frozen one's, one number per seed; absent where a figure was not measured. */
interface Bought extends Partner {
  readonly recipe: string;
  readonly seeds: number;
  readonly greedy: Interval;
  readonly forced?: Interval;
  readonly sampled?: Interval;
  /** Sampled, each arm read where both have generated and trained as many tokens. */
  readonly sampledAtEqualTokens?: Interval;
  /** Tokens generated and trained in the trained partner's arm, as a multiple of the other's. */
  readonly tokens: number;
  /** Sampled accuracy at the start and at the end of the trained partner's arm, mean over seeds; absent where it was not measured. */
  readonly course?: readonly [number, number];
}

const total = ({ tokens }: Summary) => tokens.generated + tokens.trained;

/**
 * Tokens that a run had generated and trained by the end of each round, round 0 first. A record that does not have them by round is taken to
 * have spent them evenly.
 */
function spent(run: Summary): number[] {
  const rounds = run.monitors ?? [];
  const each = rounds.map(
    ({ figures }) => (figures.tokens ?? Number.NaN) + (figures.trainedTokens ?? Number.NaN),
  );
  const known = rounds.length === run.rounds && !each.some(Number.isNaN);
  const out = [0];
  for (let round = 1; round <= run.rounds; round++)
    out.push(known ? out[round - 1]! + each[round - 1]! : (total(run) * round) / run.rounds);
  return out;
}

/** A held-out figure when a run had spent so many tokens, linear between evaluations. */
export function atTokens(run: Summary, figure: string, tokens: number): number {
  const budget = spent(run);
  const curve = run.heldout.map((point) => ({ at: budget[point.round]!, value: figureOf(point, figure) }));
  const next = curve.findIndex(({ at }) => at >= tokens);
  if (next < 0) return curve.at(-1)!.value;
  if (next === 0) return curve[0]!.value;
  const [a, b] = [curve[next - 1]!, curve[next]!];
  return a.value + ((b.value - a.value) * (tokens - a.at)) / (b.at - a.at);
}

function bought(record: Pick<Judged, 'recipe' | 'arms'>, partner: Partner): Bought | undefined {
  const [trained, frozen] = [partner.trained, partner.frozen].map(
    (name) => record.arms.find((arm) => arm.name === name)?.runs ?? [],
  ) as [readonly Summary[], readonly Summary[]];
  const seeds = Math.min(trained.length, frozen.length);
  if (!seeds) return undefined;
  const pairs = Array.from({ length: seeds }, (_, s) => [trained[s]!, frozen[s]!] as const);
  const paired = (read: (run: Summary, other: Summary) => number) => {
    const differences = pairs.map(([a, b]) => read(a, b) - read(b, a));
    return differences.some(Number.isNaN) ? undefined : tInterval(differences);
  };
  const atEnd = (figure: string) => paired((run) => figureOf(run.heldout.at(-1)!, figure));
  const [forced, sampled] = [atEnd('forcedWorked'), atEnd('sampled')];
  const [began, ended] = [0, -1].map((at) =>
    mean(pairs.map(([run]) => figureOf(run.heldout.at(at)!, 'sampled'))),
  ) as [number, number];
  const equal = paired((run, other) => atTokens(run, 'sampled', Math.min(total(run), total(other))));
  return {
    ...partner,
    recipe: record.recipe,
    seeds,
    greedy: atEnd('accuracy')!,
    ...(forced ? { forced } : {}),
    ...(sampled ? { sampled } : {}),
    ...(equal ? { sampledAtEqualTokens: equal } : {}),
    tokens: mean(pairs.map(([a, b]) => total(a) / total(b))),
    ...(sampled ? { course: [began, ended] as const } : {}),
  };
}

const allBought = (known: Registry, records: readonly Pick<Judged, 'recipe' | 'arms'>[]): Bought[] =>
  records.flatMap((record) =>
    (claimOf(known.find(record.recipe)).partners ?? []).flatMap((partner) => bought(record, partner) ?? []),
  );

const nameOf = ({ recipe, partner }: Bought) => `${recipe}, ${partner}`;

export function coTrainingPicture(known: Registry, records: readonly Judged[]): string {
  const rows = allBought(known, records);
  return intervalChart({
    title: 'What training the partner buys over freezing it',
    xTitle: 'points of held-out accuracy at the end, with 95 % intervals',
    names: rows.map(nameOf),
    series: [
      { name: 'sampled', intervals: rows.map(({ sampled }) => sampled) },
      { name: 'skill', intervals: rows.map(({ forced, greedy }) => forced ?? greedy) },
    ],
  });
}

const points = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(100 * value).toFixed(1)}`;
const cell = (interval: Interval | undefined) => {
  if (!interval) return '–';
  const { mean, low, high } = interval;
  return Number.isFinite(high) ? `${points(mean)} (${points(low)} to ${points(high)})` : points(mean);
};
/** An interval beyond 0 says the direction; one that holds 0 does not. */
const direction = (interval: Interval) => (interval.low > 0 ? 'gains' : interval.high < 0 ? 'loses' : 'open');

/** In how many comparisons the interval lies above 0, below, and around it. */
function counted(rows: readonly Bought[], figure: (row: Bought) => Interval | undefined): string {
  const found = rows.flatMap((row) => figure(row) ?? []).map(direction);
  const of = (what: string) => found.filter((one) => one === what).length;
  return `above 0 in ${of('gains')}, below 0 in ${of('loses')} and around 0 in ${of('open')} of ${found.length}`;
}

/** The sentence under the picture: whether skill or sharpening rose. */
export function coTrainingCaption(known: Registry, records: readonly Judged[]): string {
  const rows = allBought(known, records);
  return (
    `What training a solver’s partner (judge, proposer, reward model) buys over freezing it. The 95 % interval of the gain in **sampled** accuracy lies ` +
    `${counted(rows, ({ sampled }) => sampled)} comparisons; that of the gain in **skill** (greedy, steps forced where answers have steps) ${counted(rows, ({ forced, greedy }) => forced ?? greedy)}.`
  );
}

export function coTrainingPage(known: Registry, records: readonly Judged[], sized: readonly Sized[]): string {
  const rows = allBought(known, records);
  return [
    '# What does training the partner buy?',
    '',
    'Made by `npm run claims -- --page` from the files in `claims/`; do not edit. For every recipe in which a solver has a partner (a judge, a proposer, a reward model), two arms of its claim differ in one thing:',
    'whether that partner is trained beside the solver or stays as it was. The table shows by how many points of held-out accuracy the arm with the trained partner ends above the other, as the mean of the',
    'differences by seed with its 95 % t-interval. An interval that holds 0 shows no effect, and with three seeds an effect has to be large to be seen.',
    '',
    coTrainingCaption(known, records),
    '',
    '![What training the partner buys over freezing it](claims/co-training.svg)',
    '',
    '| recipe | partner | arms | seeds | greedy | greedy, steps forced | sampled | sampled at equal tokens | tokens, trained : frozen |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows.map((row) => {
      const {
        recipe,
        partner,
        trained,
        frozen,
        seeds,
        greedy,
        forced,
        sampled,
        sampledAtEqualTokens,
        tokens,
      } = row;
      const cells = [
        `[${recipe}](claims.md)`,
        partner,
        `${trained} − ${frozen}`,
        seeds,
        cell(greedy),
        cell(forced),
        cell(sampled),
        cell(sampledAtEqualTokens),
        tokens.toFixed(2),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
    '',
    'At equal tokens each arm is read where it has generated and trained as many tokens as the cheaper of the two had at its end, linearly between evaluations. Records that do not say what each round spent are taken to have spent',
    'their tokens evenly over the rounds.',
    '',
    ...sizesTable(known, records, sized),
    '',
  ].join('\n');
}

/** Parameters of the policies that the claims are played with. */
const NANO = 191_616;

/** How the answers change with the size of the policy, for the recipes that were played with larger ones. */
function sizesTable(known: Registry, records: readonly Judged[], sized: readonly Sized[]): string[] {
  const all = `All policies of this table have ${NANO.toLocaleString('en')} parameters.`;
  if (!sized.length)
    return [`${all} How the answers change with the size of the policy has not been measured.`];
  const named = new Set(sized.map(({ recipe }) => recipe));
  const rows = [
    ...records
      .filter(({ recipe }) => named.has(recipe))
      .flatMap((record) => allBought(known, [record]).map((row) => ({ ...row, parameters: NANO }))),
    ...sized.flatMap((record) =>
      allBought(known, [record]).map((row) => ({ ...row, parameters: record.parameters })),
    ),
  ].sort((a, b) => nameOf(a).localeCompare(nameOf(b)) || a.parameters - b.parameters);
  return [
    all,
    '',
    '## Over the size of the policy',
    '',
    'The same arms with wider policies: the shipped start, widened so that it computes the same at version 0, and step sizes that fall as the width grows (docs/decisions/0050). All sizes begin with the same skill, and a larger one',
    'has more that the rounds can train. There is no verdict. `npm run claims -- NAME --sizes` plays them.',
    '',
    '| recipe, partner | parameters | seeds | greedy | greedy, steps forced | sampled | sampled accuracy, partner trained, % |',
    '|---|---|---|---|---|---|---|',
    ...rows.map((row) => {
      const cells = [
        nameOf(row),
        row.parameters.toLocaleString('en'),
        row.seeds,
        cell(row.greedy),
        cell(row.forced),
        cell(row.sampled),
        row.course ? row.course.map((share) => (100 * share).toFixed(1)).join(' → ') : '–',
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  ];
}
