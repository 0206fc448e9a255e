/**
 * The text that a run prints while it goes: a heading, the version it begins from, one line per round, and warnings under it. Pure: it
 * returns text, and the caller decides where it goes and whether it is coloured. Every line fits in 120 columns.
 */
import type { ChangeVerdict } from '../../core/schema/evaluation.ts';
import type { EvaluationReport, RoundReport } from '../../core/schema/report.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { RoundLine } from '../../core/schema/summary.ts';
import { printable } from '../printable.ts';
import { type Paint, plain, type Tone } from '../shared/colour.ts';
import { decimal, duration, MISSING, percent, points, whole } from '../shared/figures.ts';
import { wrap } from '../shared/wrap.ts';
import { bar, ladderLines } from './ladder.ts';
import { temperatureLines } from './temperatures.ts';

const WIDTH = 120;
const BAR = 10;
/** After how many rounds the heading is repeated, so that it stays on the screen. */
const HEADING_EVERY = 20;

export interface Progress {
  /** How many rounds the run will have. */
  readonly rounds: number;
  /** The evaluation of the version that the run began from; changes are relative to it. */
  readonly start: EvaluationReport | null;
  /** True before the first line: the heading is then printed at any round, since a run may be continued. */
  readonly first?: boolean;
  /** Titles of the columns that had a figure so far: a column appears with its first figure, so that a recipe has those that it fills. */
  readonly filled?: Set<string>;
  readonly paint?: Paint;
}

interface Cell {
  readonly text: string;
  readonly tone?: Tone | undefined;
}

interface Column {
  readonly title: string;
  /** What the figure is, for `--help`; docs/glossary.md says more of it. */
  readonly meaning: string;
  readonly width: number;
  readonly cell: (line: RoundLine, progress: Progress) => Cell;
}

/** Token-weighted mean over the trained roles of the KL to version 0, nats a token; null where nothing was trained. */
export function klToStart({ training }: RoundReport): number | null {
  const roles = Object.values(training?.roles ?? {}).flatMap(({ tokens, klToStart: kl }) =>
    kl === null ? [] : [{ tokens, kl }],
  );
  const tokens = roles.reduce((sum, role) => sum + role.tokens, 0);
  return tokens ? roles.reduce((sum, { kl, tokens: of }) => sum + kl * of, 0) / tokens : null;
}

/** Tokens that the three roles wrote, a second of the data side's time. */
export function generationRate({ monitors, rolloutMs }: RoundReport): number | null {
  return monitors && rolloutMs ? (1000 * monitors.tokens) / rolloutMs : null;
}

const TONES: Readonly<Record<ChangeVerdict, Tone | undefined>> = {
  rose: 'good',
  fell: 'bad',
  chance: undefined,
  few: undefined,
  untested: undefined,
};

function heldOut(line: RoundLine, { start }: Progress): Cell {
  const now = line.report.evaluation?.heldOut.accuracy;
  if (now === undefined) return { text: '' };
  if (!start) return { text: percent(now, 1) };
  const change = now - start.heldOut.accuracy;
  // Within chance a change has no colour.
  const tone = TONES[line.report.evaluation?.changes?.accuracy?.verdict ?? 'untested'];
  return { text: `${percent(now, 1)} ${points(change).padStart(5)}`, tone };
}

/** Not every round is evaluated: its column is there from the start. */
const HELD_OUT = 'held-out';
/** What a cell says where there is no figure. */
const EMPTY: ReadonlySet<string> = new Set([MISSING, '']);

const COLUMNS: readonly Column[] = [
  {
    title: 'tok/s',
    meaning: 'tokens generated per second',
    width: 6,
    cell: ({ report }) => ({ text: whole(generationRate(report)) }),
  },
  {
    title: 'accept',
    meaning: 'share of the proposals that became tasks',
    width: 6,
    // Where some of the tasks were drawn, nobody proposed them.
    cell: ({ groups: { proposed, admitted } }) => ({
      text: percent(proposed && admitted <= proposed ? admitted / proposed : null),
    }),
  },
  {
    title: 'reward',
    meaning: 'mean reward of the rollouts',
    width: 6,
    cell: ({ report }) => ({ text: decimal(report.monitors?.reward) }),
  },
  {
    title: 'judge',
    meaning: 'balanced accuracy of the judge: 0.5 is chance',
    width: 5,
    cell: ({ report }) => ({ text: decimal(report.monitors?.judgeBalancedAccuracy) }),
  },
  {
    title: 'passed',
    meaning: 'share of rollouts that count as solved',
    width: 6,
    cell: ({ report }) => ({ text: decimal(report.monitors?.passRate) }),
  },
  {
    title: 'difficulty',
    meaning: 'mean difficulty of the tasks',
    width: 10,
    cell: ({ report }) => ({ text: decimal(report.monitors?.difficulty) }),
  },
  {
    title: 'worked',
    meaning: 'share of rollouts that write their steps down',
    width: 6,
    // Null where the recipe counts no steps.
    cell: ({ report }) => ({ text: percent(report.monitors?.workedShare ?? null) }),
  },
  {
    title: HELD_OUT,
    meaning: 'greedy accuracy on held-out tasks, and its change since the run began, points',
    width: 12,
    cell: heldOut,
  },
  {
    title: 'success',
    meaning: 'share of the held-out episodes that succeed, by the version that sampled the round',
    width: 7,
    cell: ({ report }) => ({ text: percent(report.figures?.['heldOut.success'] ?? null) }),
  },
  {
    title: 'KL',
    meaning: 'KL divergence from version 0, nats per token',
    width: 5,
    cell: ({ report }) => ({ text: decimal(klToStart(report), 3) }),
  },
  {
    title: 'stale',
    meaning: 'groups refused because they were sampled with too old a version',
    width: 5,
    cell: ({ groups }) => ({ text: whole(groups.stale), tone: groups.stale ? 'warn' : undefined }),
  },
  {
    title: 'time',
    meaning: 'from the beginning of the round to its end',
    width: 8,
    cell: ({ wallMs }) => ({ text: duration(wallMs) }),
  },
];

const place = (round: number, rounds: number) => `${String(round).padStart(String(rounds).length)}/${rounds}`;

const right = ({ text, tone }: Cell, width: number, paint: Paint) => {
  const padding = ' '.repeat(Math.max(0, width - text.length));
  return padding + (tone ? paint(tone, text) : text);
};

/** The columns that are shown. */
const columnsOf = ({ filled }: Progress): readonly Column[] =>
  filled ? COLUMNS.filter(({ title }) => filled.has(title)) : COLUMNS;

/** Notes the columns that the line fills. @returns whether there are new ones */
function fill(line: RoundLine, progress: Progress): boolean {
  const { filled = new Set<string>(COLUMNS.map(({ title }) => title)) } = progress;
  const before = filled.size;
  for (const { title, cell } of COLUMNS)
    if (!EMPTY.has(cell(line, progress).text) || title === HELD_OUT) filled.add(title);
  return filled.size > before;
}

/** The line of the columns' titles. */
export function heading(progress: Progress): string {
  const { rounds, paint = plain } = progress;
  const first = 'round'.padEnd(place(rounds, rounds).length + 1 + BAR);
  const titles = columnsOf(progress).map(({ title, width }) => title.padStart(width));
  return paint('dim', [first, ...titles].join(' '));
}

/** What the columns are, for the end of `--help`. */
export const columnsHelp = (): string =>
  [
    'Columns of a round’s line, as far as the recipe has such figures (docs/glossary.md explains each):',
    ...COLUMNS.map(({ title, meaning }) => `  ${title.padEnd(12)}${meaning}`),
  ].join('\n');

function warnings({ groups, report, from, others = 0 }: RoundLine): string[] {
  const { failed } = groups;
  const continued = others
    ? [
        `other runs trained the policy since the last round (${others} ${others === 1 ? 'version' : 'versions'}): this round began from version ${from}, so changes from here on are not this run's alone`,
      ]
    : [];
  const lost = failed ? [`${failed} ${failed === 1 ? 'group' : 'groups'} failed and are missing data`] : [];
  return [...continued, ...(report.warnings ?? []), ...lost];
}

/** A warning or a notice on lines of its own. Its text is untrusted. */
export const noticeLines = (text: string, paint: Paint = plain): string[] =>
  wrap(printable(text), WIDTH - 4).map((part, i) => paint('warn', `${i ? '   ' : '  !'} ${part}`));

/** A round's line, with warnings on lines of their own under it and the heading above it where it is due. */
export function roundLines(line: RoundLine, progress: Progress): string[] {
  const { rounds, first = false, paint = plain } = progress;
  const grew = fill(line, progress);
  const cells = columnsOf(progress).map(({ width, cell }) => right(cell(line, progress), width, paint));
  const row = [
    place(line.round, rounds),
    paint('good', bar(rounds > 0 ? line.round / rounds : 1, BAR)),
    ...cells,
  ].join(' ');
  const due = first || grew || line.round % HEADING_EVERY === 1 ? [heading(progress)] : [];
  const notes = warnings(line).flatMap((text) => noticeLines(text, paint));
  const under = [...ladderLines(line.report), ...temperatureLines(line.report.evaluation)];
  return [...due, row, ...under, ...notes];
}

/** A line on the evaluation of the run's first version, before the first round. */
export function startLine({ heldOut, judge, version }: EvaluationReport): string {
  const known = (value: number | null, words: string) => (value === null ? [] : [words]);
  return [
    `version ${version} on ${whole(heldOut.n)} held-out tasks: ${percent(heldOut.accuracy, 1)}${heldOut.sampled === null ? '' : ' greedy'}`,
    ...known(heldOut.sampled, `${percent(heldOut.sampled, 1)} sampled`),
    ...known(heldOut.forcedWorked, `${percent(heldOut.forcedWorked, 1)} with steps forced`),
    ...known(heldOut.worked, `${percent(heldOut.worked)} worked`),
    ...known(judge.fixed, `judge ${decimal(judge.fixed)}`),
  ].join(', ');
}

/** The line after Ctrl-C: it says that nothing is lost and how to continue. `rounds`: 0 where no run was under way. */
export const stoppedLine = (after: number, rounds: number): string => {
  const when = after
    ? ` after round ${after} of ${rounds}`
    : rounds
      ? ` before the first of ${rounds} rounds was done`
      : '';
  return `\nStopped${when}. The same command goes on from here.`;
};

export interface Start {
  readonly settings: RunSettings;
  /** What people call its recipe, where that is not its name. */
  readonly called?: string;
  readonly rounds: number;
  /** The dashboard's address; absent where there is none, as in a single process. */
  readonly page?: string;
  /** The learner's device: "auto" where it chooses for itself, or a name in words. */
  readonly device: string;
  /** Rounds that an earlier start finished. */
  readonly done?: number;
  /** The version that the run begins from, where it has no rounds yet. */
  readonly from?: number;
}

/** Text that says what is running and where to look at it. */
export function explainStart(
  { settings, called, rounds, page, device, done = 0, from = 0 }: Start,
  paint = plain,
): string[] {
  const { recipe, policy, rewardFunction, seed, tasks, groupSize, freeze, weights, engine, ahead } = settings;
  const frozen = freeze.length ? `, frozen: ${freeze.join(', ')}` : '';
  const rounded = weights ? `, sampled with ${weights} weights` : '';
  const overlap = ahead ? `, ${ahead} ${ahead === 1 ? 'round' : 'rounds'} ahead` : '';
  const computed = engine ? `, computed by ${engine}` : '';
  return [
    `${paint('bold', called ?? recipe)} trains ${policy}: ${rounds} ${rounds === 1 ? 'round' : 'rounds'} of ${tasks} tasks × ${groupSize} solutions, reward ${rewardFunction}, seed ${seed}${frozen}${rounded}${computed}${overlap}`,
    ...(ahead
      ? [
          `round r samples with version r-${1 + ahead}: while it trains, the next ${ahead === 1 ? 'one is' : `${ahead} are`} rolled out`,
        ]
      : []),
    ...(from
      ? [
          `${policy} is at version ${from}, trained before this run: the run continues from there and measures its change from there`,
        ]
      : []),
    ...(done ? [`resuming after round ${done}`] : []),
    `learner: ${device === 'auto' ? 'timing devices …' : device}`,
    page ? `watch it at ${paint('bold', page)}` : 'no page: all in this process',
  ];
}
