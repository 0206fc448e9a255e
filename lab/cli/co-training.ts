/**
 * Makes the page on co-training and its picture from the records: the effect of training a solver's partner instead of freezing it, for every recipe
 * whose claim has both arms.
 */
import { mean, tInterval } from 'rollmesh';
import type { ClaimedRegistry, Partner, Run } from '../rule/claim.ts';
import { figureOf } from '../rule/curves.ts';
import { intervalChart } from './interval-chart.ts';
import { alongName } from './page.ts';
import type { Judged, Sized } from './record.ts';
import { skillTable } from './skill-table.ts';

type Interval = ReturnType<typeof tInterval>;

/** Points by which the trained partner's arm is above the frozen one's, one number per seed; absent where a figure was not measured. */
interface Gain {
  readonly greedy: Interval;
  readonly forced?: Interval;
  readonly sampled?: Interval;
}

interface Bought extends Partner {
  readonly recipe: string;
  readonly seeds: number;
  /** Each arm read where both have generated and trained as many tokens: where the cheaper one ended. */
  readonly atEqualTokens: Gain;
  readonly atEnd: Gain;
  /** Tokens generated and trained in the trained partner's arm, as a multiple of the other's. */
  readonly tokens: number;
  /** Whether the arms were evaluated at the start and the end alone, so that between them a figure is read from a straight line. */
  readonly isLine: boolean;
  /** Sampled accuracy at the start and at the end of the trained partner's arm, mean over seeds; absent where it was not measured. */
  readonly course?: readonly [number, number];
}

const total = ({ tokens }: Run) => tokens.generated + tokens.trained;

/**
 * Tokens that a run had generated and trained by the end of each round, round 0 first. A record that does not have them by round is taken to
 * have spent them evenly.
 */
function spent(run: Run): number[] {
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
export function atTokens(run: Run, figure: string, tokens: number): number {
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
  ) as [readonly Run[], readonly Run[]];
  const seeds = Math.min(trained.length, frozen.length);
  if (!seeds) return undefined;
  const pairs = Array.from({ length: seeds }, (_, s) => [trained[s]!, frozen[s]!] as const);
  const paired = (read: (run: Run, other: Run) => number) => {
    const differences = pairs.map(([a, b]) => read(a, b) - read(b, a));
    return differences.some(Number.isNaN) ? undefined : tInterval(differences);
  };
  const gain = (figureOfRun: (run: Run, other: Run, figure: string) => number): Gain => {
    const of = (figure: string) => paired((run, other) => figureOfRun(run, other, figure));
    const [forced, sampled] = [of('forcedWorked'), of('sampled')];
    return { greedy: of('accuracy')!, ...(forced ? { forced } : {}), ...(sampled ? { sampled } : {}) };
  };
  const atEnd = gain((run, _, figure) => figureOf(run.heldout.at(-1)!, figure));
  const [began, ended] = [0, -1].map((at) =>
    mean(pairs.map(([run]) => figureOf(run.heldout.at(at)!, 'sampled'))),
  ) as [number, number];
  return {
    ...partner,
    recipe: record.recipe,
    seeds,
    atEqualTokens: gain((run, other, figure) => atTokens(run, figure, Math.min(total(run), total(other)))),
    atEnd,
    tokens: mean(pairs.map(([a, b]) => total(a) / total(b))),
    isLine: pairs.every((pair) => pair.every(({ heldout }) => heldout.length === 2)),
    ...(atEnd.sampled ? { course: [began, ended] as const } : {}),
  };
}

const allBought = (known: ClaimedRegistry, records: readonly Pick<Judged, 'recipe' | 'arms'>[]): Bought[] =>
  records.flatMap((record) =>
    (known.find(record.recipe).claim.partners ?? []).flatMap((partner) => bought(record, partner) ?? []),
  );

const nameOf = ({ recipe, partner }: Bought) => `${recipe}, ${partner}`;
/** Greedy accuracy, with steps forced where answers have steps. */
const skillOf = ({ forced, greedy }: Gain): Interval => forced ?? greedy;

export function coTrainingPicture(known: ClaimedRegistry, records: readonly Judged[]): string {
  const rows = allBought(known, records);
  return intervalChart({
    title: 'Effect of training the partner instead of freezing it',
    xTitle: 'points of held-out accuracy at equal tokens, with 95 % intervals',
    names: rows.map(nameOf),
    series: [
      { name: 'sampled', intervals: rows.map(({ atEqualTokens }) => atEqualTokens.sampled) },
      { name: 'greedy', intervals: rows.map(({ atEqualTokens }) => skillOf(atEqualTokens)) },
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
function counted(gains: readonly Gain[], figure: (gain: Gain) => Interval | undefined): string {
  const found = gains.flatMap((gain) => figure(gain) ?? []).map(direction);
  const of = (what: string) => found.filter((one) => one === what).length;
  return `above 0 in ${of('gains')}, below 0 in ${of('loses')} and around 0 in ${of('open')} of ${found.length}`;
}

/** The sentence under the picture: whether skill or sharpening rose. */
export function coTrainingCaption(known: ClaimedRegistry, records: readonly Judged[]): string {
  const gains = allBought(known, records).map(({ atEqualTokens }) => atEqualTokens);
  return (
    `Effect of training a solver’s partner (judge, proposer, reward model) instead of freezing it, where both arms have generated and trained as many tokens. The 95 % interval of the gain in **sampled** accuracy lies ` +
    `${counted(gains, ({ sampled }) => sampled)} comparisons; that of the gain in **skill** (greedy, steps forced where answers have steps) ${counted(gains, skillOf)}.`
  );
}

/** The same counts without what is read from two evaluations, and at the end of the runs. */
function otherCounts(rows: readonly Bought[]): string {
  const lined = rows.filter(({ isLine }) => isLine);
  const curves = rows.filter(({ isLine }) => !isLine).map(({ atEqualTokens }) => atEqualTokens);
  const end = rows.map(({ atEnd }) => atEnd);
  return (
    `Without the ${lined.length} comparisons whose arms were evaluated at the start and the end alone, which are read from a straight line between the two (\\*), the counts are for sampled accuracy ` +
    `${counted(curves, ({ sampled }) => sampled)}, for skill ${counted(curves, skillOf)}. At the end of the runs, when the arm with the trained partner has mostly taken more tokens, they are for sampled accuracy ` +
    `${counted(end, ({ sampled }) => sampled)}, for skill ${counted(end, skillOf)}.`
  );
}

/** Recipes with a partner that this page leaves out, and why. */
const LEFT_OUT = [
  '`ttcs` has no arm in which its synthesizer is frozen: the arms of its claim take the synthesizer away, or its pay.',
  '`verifier-training` trains a verifier against a generator of wrong steps: there is no solver that its partner helps.',
  '`sage` and `svs` have no arm in which the hinter, or the writer of variations, stays at version 0: it has the solver’s weights.',
];

/** The claims that examine what a policy can do at all, each with one picture, one table and one paragraph. */
const whereSkillGrows = (known: ClaimedRegistry, records: readonly Judged[]): string[] =>
  records.flatMap((record) => {
    const { claim } = known.find(record.recipe);
    const table = skillTable(record, claim);
    if (!table.length) return [];
    return [
      `## ${claim.along!.title}`,
      '',
      `![${claim.along!.title}](claims/${alongName(record.recipe)})`,
      '',
      'In percent, mean over starts with its 95 % interval; greedy answers count where every step is right, and so do samples.',
      '',
      ...table,
      '',
      ...(claim.diagnosis ? [claim.diagnosis, ''] : []),
      '## All recipes with a partner',
      '',
    ];
  });

export function coTrainingPage(
  known: ClaimedRegistry,
  records: readonly Judged[],
  sized: readonly Sized[],
): string {
  const rows = allBought(known, records);
  return [
    '# What does training the partner change?',
    '',
    ...whereSkillGrows(known, records),
    'Made by `npm run pages` in the lab from its records. In a recipe whose solver has a partner (a judge, a proposer, a reward model), two arms of its claim differ in one thing:',
    'whether that partner is trained beside the solver or stays as it was. The table shows by how many points of held-out accuracy the arm with the trained partner is above the other, as the mean of the',
    'differences by seed with its 95 % t-interval. An interval that holds 0 shows no effect.',
    '',
    coTrainingCaption(known, records),
    '',
    otherCounts(rows),
    '',
    '![Effect of training the partner instead of freezing it](claims/co-training.svg)',
    '',
    '| recipe | partner | arms | seeds | tokens, trained : frozen | at equal tokens: greedy | greedy, steps forced | sampled | at the end: greedy | greedy, steps forced | sampled |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...rows.map((row) => {
      const { recipe, partner, trained, frozen, seeds, atEqualTokens, atEnd, tokens, isLine } = row;
      const cells = [
        `[${recipe}](claims.md)${isLine ? ' \\*' : ''}`,
        partner,
        `${trained} − ${frozen}`,
        seeds,
        tokens.toFixed(2),
        ...[atEqualTokens, atEnd].flatMap(({ greedy, forced, sampled }) => [
          cell(greedy),
          cell(forced),
          cell(sampled),
        ]),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
    '',
    'At equal tokens each arm is read where it has generated and trained as many tokens as the cheaper of the two had at its end, linearly between evaluations. Records that do not say what each round spent are taken to have spent',
    'their tokens evenly over the rounds.',
    '',
    'Not in the table:',
    '',
    ...LEFT_OUT.map((line) => `- ${line}`),
    '',
    ...sizesTable(known, records, sized),
    '',
  ].join('\n');
}

/** Parameters of the policies that the claims are played with. */
const NANO = 191_616;

/** A record as if it had been evaluated at the start and the end alone, as larger policies are: rows are read from the same kind of curve. */
const evaluatedTwice = ({
  recipe,
  arms,
}: Pick<Judged, 'recipe' | 'arms'>): Pick<Judged, 'recipe' | 'arms'> => ({
  recipe,
  arms: arms.map((arm) => ({
    ...arm,
    runs: arm.runs.map((run) => ({ ...run, heldout: [run.heldout[0]!, run.heldout.at(-1)!] })),
  })),
});

/** How the answers change with the size of the policy, for the recipes that were played with larger ones. */
function sizesTable(known: ClaimedRegistry, records: readonly Judged[], sized: readonly Sized[]): string[] {
  const all = `All policies of this table have ${NANO.toLocaleString('en')} parameters.`;
  if (!sized.length)
    return [`${all} How the answers change with the size of the policy has not been measured.`];
  const named = new Set(sized.map(({ recipe }) => recipe));
  const rows = [
    ...records
      .filter(({ recipe }) => named.has(recipe))
      .flatMap((record) =>
        allBought(known, [evaluatedTwice(record)]).map((row) => ({ ...row, parameters: NANO })),
      ),
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
    'has more that the rounds can train. There is no verdict. `npm run claims -- NAME --sizes` plays them. At equal tokens every row is read from a straight line between the start and the end, where larger policies are evaluated.',
    '',
    '| recipe, partner | parameters | seeds | tokens, trained : frozen | at equal tokens: sampled | at the end: greedy | greedy, steps forced | sampled | sampled accuracy, partner trained, % |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows.map((row) => {
      const cells = [
        nameOf(row),
        row.parameters.toLocaleString('en'),
        row.seeds,
        row.tokens.toFixed(2),
        cell(row.atEqualTokens.sampled),
        cell(row.atEnd.greedy),
        cell(row.atEnd.forced),
        cell(row.atEnd.sampled),
        row.course ? row.course.map((share) => (100 * share).toFixed(1)).join(' → ') : '–',
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  ];
}
