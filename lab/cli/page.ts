/** Makes the page of all claims and its pictures from the records; only texts written after the runs come from the claims. */

import { lineChart, type Series } from 'rollmesh/charts';
import { pilotMinutes } from '../rule/attempts.ts';
import type { Along, Claim, Run } from '../rule/claim.ts';
import { type Change, columnsOf, sharpeningOf, skillOf } from '../rule/columns.ts';
import { figureOf } from '../rule/curves.ts';
import { type JudgedCondition, VERDICTS, type Verdict } from '../rule/rule.ts';
import type { Judged, MeasuredOn, PlayedArm } from './record.ts';

/** The curves of a claim that names none. */
const PICTURES: Readonly<Record<string, string>> = {
  accuracy: 'Held-out accuracy, greedy',
  sampled: 'Held-out accuracy, sampled',
  forcedWorked: 'Held-out accuracy, steps forced',
};

/** What the titles of curves depend on. */
interface Drawn {
  readonly pictures?: Judged['pictures'];
  readonly arms: readonly Pick<PlayedArm, 'runs'>[];
}

/** Titles of a claim's curves, by figure. A claim that names none has no curve of what none of its runs measured. */
export function picturesOf({ pictures, arms }: Drawn): Readonly<Record<string, string>> {
  const points = arms.flatMap(({ runs }) => runs.flatMap(({ heldout }) => heldout));
  const measured = (figure: string) => points.some((point) => Number.isFinite(figureOf(point, figure)));
  return pictures ?? Object.fromEntries(Object.entries(PICTURES).filter(([figure]) => measured(figure)));
}

/** A share in percent. It is rounded to a millionth of a point first, so that the mean of equal values is printed like the values. */
const points = (value: number) => (Math.round(1e8 * value) / 1e6).toFixed(1);
const meanOf = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const spread = (values: readonly number[]) =>
  `${points(meanOf(values))} (${points(Math.min(...values))} to ${points(Math.max(...values))})`;

const ofPoint = (point: Run['heldout'][number] | undefined, figure: string) =>
  point ? figureOf(point, figure) : Number.NaN;

const pictureName = (recipe: string, figure: string) => `${recipe}-${figure.toLowerCase()}.svg`;

/** The file of a claim's picture whose curves do not go over rounds. */
export const alongName = (recipe: string) => `${recipe}-along.svg`;

/** The start, and each arm at the end of its runs, over the figures of one evaluation. */
function alongPicture({ arms }: Judged, { title, xTitle, at }: Along): string {
  const curve = (point: Run['heldout'][number] | undefined) =>
    Object.entries(at).map(([figure, x]) => ({ x, y: ofPoint(point, figure) }));
  const series: Series[] = [
    { name: 'start', runs: arms[0]!.runs.map(({ heldout }) => curve(heldout[0])) },
    ...arms.map(({ name, runs }) => ({ name, runs: runs.map(({ heldout }) => curve(heldout.at(-1))) })),
  ];
  return lineChart({ title, xTitle, series });
}

/** SVG pictures by file name, one per figure: a line for each arm (its mean over seeds), with a line for each seed behind it. */
export function pictures(record: Judged, along?: Along): Map<string, string> {
  return new Map([
    ...(along ? [[alongName(record.recipe), alongPicture(record, along)] as const] : []),
    ...Object.entries(picturesOf(record)).map(([figure, title]) => {
      const series = record.arms.map(
        ({ name, runs }): Series => ({
          name,
          runs: runs.map((run) =>
            run.heldout.map((point) => ({ x: point.round, y: figureOf(point, figure) })),
          ),
        }),
      );
      return [pictureName(record.recipe, figure), lineChart({ title, xTitle: 'round', series })] as const;
    }),
  ]);
}

/** The half width of a 95 % interval, or that one run has none. */
const plusMinus = ({ mean, high }: Change['change'], write: (value: number) => string) =>
  Number.isFinite(high) ? ` ± ${write(high - mean)}` : '';
const signed = (value: number, write: (value: number) => string) =>
  `${value < 0 ? '−' : '+'}${write(Math.abs(value))}`;
const hundredths = (value: number) => value.toFixed(2).replace('-', '−');

const changed = (change: Change['change'], write: (value: number) => string) =>
  `${signed(change.mean, write)}${plusMinus(change, write)}`;
const startToEnd = (one: Change | undefined, write: (value: number) => string = points) =>
  one ? `${write(one.start)} → ${write(one.end)} (${changed(one.change, write)})` : '–';

/** A figure of the table of all claims, with what it is or why it is lacking in a few words. */
const labelled = (figure: string, { label }: { readonly label?: string } = {}) => {
  if (!label) return figure;
  return figure === '–' ? `${figure} (${label})` : `${figure}, ${label}`;
};

const CONTROL = ' (control)';

/** How many seeds a measurement has, where those are not all of the claim's. */
const ofSeeds = (measured: number, seeds: number) =>
  measured > 0 && measured < seeds ? `, ${measured} of ${seeds} seeds` : '';

const judgedTable = (title: string, rows: readonly JudgedCondition[], seeds: number): string[] => [
  `| ${title} | bound | measured, by seed | mean, 95 % interval | outcome |`,
  '|---|---|---|---|---|',
  ...rows.map(({ description, control, bound, measured, interval, outcome, why }) => {
    const { mean, low, high } = interval;
    const cells = [
      `${description}${control ? CONTROL : ''}`,
      bound,
      measured.map((value) => value.toFixed(3)).join(', ') || '–',
      `${Number.isFinite(high) ? `${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})` : '–'}${ofSeeds(measured.length, seeds)}`,
      outcome === 'holds' ? outcome : `**${outcome}**${why ? ` (${why})` : ''}`,
    ];
    return `| ${cells.join(' | ')} |`;
  }),
  '',
];

const measuredOn = ({ node, cores, cpu, commit, at }: MeasuredOn) =>
  `${node} on ${cores} cores (${cpu}), commit ${commit}, ${at.slice(0, 10)}`;

/** A sentence on the arms that were added to the record later, with the machine and commit of each. */
const playedLater = (arms: readonly PlayedArm[]): string =>
  arms.map(({ name, machine }) => (machine ? `; ${name} with ${measuredOn(machine)}` : '')).join('');

/** How many attempts at a claim were registered: the one of the record, and those of the earlier ones that were. */
const registeredAttempts = ({ attempts, registration }: Pick<Judged, 'attempts' | 'registration'>): number =>
  attempts.earlier.filter(({ registered }) => registered).length + (registration ? 1 : 0);

/** Which of some attempts were registered; those that were are the last ones. */
function registeredOf(attempt: number, registered: number): string {
  if (registered === 0) return 'none registered';
  if (registered === attempt) return ['registered', 'both registered'][attempt - 1] ?? 'all registered';
  return registered === 1 ? 'the last one registered' : `the last ${registered} registered`;
}

/** How the attempts at a claim are counted in a table. */
const attemptsCell = (record: Judged): string => {
  const minutes = Math.ceil(pilotMinutes(record.attempts));
  return [
    `${record.attempt} (${registeredOf(record.attempt, registeredAttempts(record))})`,
    ...(minutes > 0 ? [`${minutes} min of pilots`] : []),
  ].join(', ');
};

/** What was tried before, as the file of attempts has it. */
function attemptsText({ recipe, attempts, attempt, registration }: Judged): string[] {
  const { earlier, starts, moved, pilots } = attempts;
  const under = registration
    ? `This is attempt ${attempt}. It was registered at ${registration.at} in commit ${registration.commit} ([records/registered/${recipe}.json](../records/registered/${recipe}.json)), before its first run at ${registration.began}.`
    : 'This record is older than registrations: its conditions stood in code before the run, and earlier attempts had other seeds, settings or conditions.';
  return [
    `**Attempts.** ${under}${starts > 1 ? ` The attempts began from ${starts} different start policies.` : ''}`,
    '',
    ...(earlier.length
      ? [
          '| earlier attempt, seeds | rounds | verdict by the rule of its day | conditions that held | record | what was changed for it |',
          '|---|---|---|---|---|---|',
          ...earlier.map(
            ({ seeds, rounds, registered, verdict, held, conditions, commit, changed: what }) =>
              `| ${seeds.join(', ')}${registered ? ' (registered)' : ''} | ${rounds} | ${verdict} | ${conditions ? `${held} of ${conditions}` : '–'} | ${commit ?? 'not committed'} | ${what} |`,
          ),
          '',
        ]
      : []),
    ...(moved.length
      ? [
          '| what an earlier attempt asked | what became of it |',
          '|---|---|',
          ...moved.map(({ asked, now }) => `| ${asked} | ${now} |`),
          '',
        ]
      : []),
    ...(pilots.length
      ? [
          `Pilots: ${pilots.length}, ${Math.ceil(pilotMinutes(attempts))} minutes of processor time of the 120 that a claim may take.`,
          '',
        ]
      : []),
  ];
}

/** The figures that every claim has, by arm. */
const columnsTable = ({ arms, columns, gap: gapTo }: Pick<Judged, 'arms' | 'columns' | 'gap'>): string[] => [
  '| arm | seeds | greedy | greedy, steps forced | sampled | reward − gold | generated | trained |',
  '|---|---|---|---|---|---|---|---|',
  ...arms.map(({ name, runs }) => {
    const { greedy, forced, sampled, gap, generated, trained } = columnsOf(runs, gapTo);
    const cells = [
      name,
      runs.length,
      startToEnd(greedy),
      startToEnd(forced),
      startToEnd(sampled),
      startToEnd(gap, hundredths),
      generated.toFixed(2),
      trained.toFixed(2),
    ];
    return `| ${cells.join(' | ')} |`;
  }),
  '',
  ...(columns ? [columns.meaning, ''] : []),
  ...(gapTo ? [`Reward − gold: ${gapTo.meaning}`, ''] : []),
];

/** The curves of each arm at the end of its runs, mean and range over the seeds in percent. */
function endsTable(record: Judged): string[] {
  const drawn = Object.entries(picturesOf(record));
  return [
    `| arm | ${drawn.map(([, title]) => title).join(' | ')} | what it is |`,
    `|---|${drawn.map(() => '---|').join('')}---|`,
    ...record.arms.map(({ name, runs, description }) => {
      const cells = drawn.map(([figure]) => spread(runs.map((run) => ofPoint(run.heldout.at(-1), figure))));
      return `| ${[name, ...cells, description].join(' | ')} |`;
    }),
    '',
  ];
}

/** What was measured of a claim, in short: for the page of its recipe. */
export function resultText(record: Judged): string {
  const { claim, verdict, headline, settings, seeds, rounds, registration: under } = record;
  const sizes = settings.tokens
    ? `${settings.tokens.toLocaleString('en')} sampled tokens, at most ${rounds} rounds`
    : `${rounds} rounds`;
  return [
    claim,
    '',
    `**${verdict}.** ${headlineCell(record)} (mean over the seeds, 95 % interval).${headline.untestable ? ` Untestable: ${headline.untestable}.` : ''}`,
    '',
    `${under ? `Registered in commit ${under.commit} at ${under.at}, then played` : 'Played before there were registrations'}: ${sizes}, seeds ${seeds.join(', ')}. At the end, in percent, mean and range over seeds:`,
    '',
    ...endsTable(record),
  ].join('\n');
}

/** The file of the picture whose curves the headline compares: the one that it names, or the claim's first. */
export function headlineFigure(record: Judged): string | undefined {
  const { description } = record.conditions[record.headline.condition]!;
  const figures = Object.keys(picturesOf(record));
  const named = figures
    .filter((figure) => description.includes(figure))
    .sort((a, b) => description.indexOf(a) - description.indexOf(b));
  const [figure = figures[0]] = named;
  return figure && pictureName(record.recipe, figure);
}

function section(record: Judged, { diagnosis, along, startPolicy }: Told): string {
  const { recipe, claim, verdict, headline, conditions, observations, arms } = record;
  const { machine, seeds, rounds, settings } = record;
  const drawn = Object.entries(picturesOf(record));
  const start = arms[0]!.runs[0]!.heldout[0]!;
  const began = drawn.map(([figure, title]) => `${title.toLowerCase()} ${points(ofPoint(start, figure))}`);
  return [
    `## ${recipe}: ${verdict}`,
    '',
    claim,
    '',
    `Headline: ${headlineCell(record)}.${headline.untestable ? ` Untestable: ${headline.untestable}.` : ''}`,
    '',
    `${settings.tokens ? `${settings.tokens.toLocaleString('en')} sampled tokens, at most ` : ''}${rounds} rounds, seeds ${seeds.join(', ')}; ${start.n} held-out tasks. ${startPolicy ? `All runs begin from \`${startPolicy}\`. ` : ''}Version 0, seed ${seeds[0]}: ${began.join('; ')}. In percent, mean and range over seeds, at the end:`,
    '',
    ...endsTable(record),
    'From start to end, with the 95 % interval of the change; accuracies in percent, tokens in millions a run:',
    '',
    ...columnsTable(record),
    ...judgedTable('condition', conditions, seeds.length),
    ...(observations.length
      ? judgedTable('beside the claim, no part of the verdict', observations, seeds.length)
      : []),
    ...(diagnosis ? [`**Diagnosis.** ${diagnosis}`, ''] : []),
    ...attemptsText(record),
    ...drawn.map(([figure, title]) => `![${title}](claims/${pictureName(recipe, figure)})`),
    ...(along ? [`![${along.title}](claims/${alongName(recipe)})`] : []),
    '',
    `Measured with ${measuredOn(machine)}${playedLater(arms)}. Data: [records/${recipe}.json](../records/${recipe}.json).`,
    '',
  ].join('\n');
}

/** The headline with its bound, what was measured, and of a baseline that was trained far less than the method, by how much. */
function headlineCell({ conditions, headline, recipe, arms }: Judged): string {
  const { description, bound, interval } = conditions[headline.condition]!;
  const { mean, low, high } = interval;
  const numbers = Number.isFinite(high)
    ? `${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`
    : '–';
  const trained = (runs: readonly Run[]) => meanOf(runs.map(({ tokens }) => tokens.trained));
  const main = trained(arms[0]!.runs);
  const starved = arms.filter(
    ({ name, runs }) => description.includes(name) && name !== recipe && trained(runs) < main / 10,
  );
  const note = starved.map(
    ({ name, runs }) => `; ${name} trained ${Math.round((100 * trained(runs)) / main)} % of the tokens`,
  );
  return `${description}, ${bound}: ${numbers}${note.join('')}`;
}

/** How many headlines have each verdict. */
function countedVerdicts(records: readonly Judged[]): string {
  const count = (wanted: Verdict) => records.filter(({ verdict }) => verdict === wanted).length;
  const said = VERDICTS.map((verdict) => `${verdict}: ${count(verdict)}`);
  return `Of ${records.length} headlines: ${said.join(', ')}.`;
}

/** The table of all claims: one line per claim, with a link to its section of `page`. */
export const overview = (records: readonly Judged[], page = ''): string[] => [
  '| recipe | verdict | headline: what was asked, and measured | attempts | greedy Δ | sampled Δ − greedy Δ | reward − gold |',
  '|---|---|---|---|---|---|---|',
  ...records.map((record) => {
    const { recipe, verdict, arms, gap } = record;
    const { runs } = arms[0]!;
    const columns = columnsOf(runs, gap);
    const sharper = sharpeningOf(runs);
    const cells = [
      `[${recipe}](${page}#${recipe}-${verdict.replaceAll(' ', '-')})`,
      verdict,
      headlineCell(record),
      attemptsCell(record),
      labelled(startToEnd(skillOf(columns)), record.columns),
      sharper ? changed(sharper, points) : '–',
      labelled(startToEnd(columns.gap, hundredths), gap),
    ];
    return `| ${cells.join(' | ')} |`;
  }),
];

const INTRODUCTION = `Made by \`npm run pages\` in the lab from its records. A verdict is about these small runs alone, and follows from one rule (\`rule/README.md\`). A condition has a bound,
the smallest effect of interest, which is never 0. It **holds** where the 95 % t-interval of what was measured, one number per seed, lies wholly beyond its bound, **fails** where the interval lies
wholly on the other side, is **within noise** otherwise, and **void** where it compares nothing. One condition of each claim is its headline, the comparison that the paper stands on. The verdict is what the headline measured:
**supported** where it holds, **smaller than asked** where the interval lies above 0 and not wholly beyond the bound, **reversed** where it lies below 0, **no effect shown** where it holds 0, and **untestable** where no run from this start could have shown it. That a policy
improves, ends no lower than another, or ends above a coin or a form control adds nothing to it.

A claim is registered before its one run of eight seeds is played. Each section lists earlier attempts: those that were not registered are older than that rule and have three or five seeds. Held-out tasks are never proposed or trained on, except by ttrl, spine and ttcs, whose method it is to train on the
test set’s questions without their answers.

In the table, of each claim’s first arm, from start to end with the 95 % interval of the change, in percent: **greedy Δ** (skill) is the accuracy of greedy answers, with their steps forced where
answers have steps, so that the choice to write steps is left out. **Sampled Δ − greedy Δ** (sharpening) is by how many points more the accuracy of sampled answers rose than that of greedy ones: what training made likelier
rather than possible. **Reward − gold** is what the solver is paid minus the share of its answers that are exact, in the first three rounds that pay it and in the last five.
Where it grows the reward may be hacked, unless words behind it say what else the growth means; where a claim has none, words say why, and its section says it in a sentence. So does the section of a claim without
sampled accuracy, which has no sharpening.
`;

/** A sentence on the claims that were registered and have no record yet; nothing where there is none. */
const waitingText = (waiting: readonly string[]): string[] =>
  waiting.length
    ? [
        `Registered, and not played yet: ${waiting.map((recipe) => `[${recipe}](../records/registered/${recipe}.json)`).join(', ')}.`,
        '',
      ]
    : [];

/** What is taken from a claim as it is now, and not from its record. */
export type Told = Pick<Claim, 'diagnosis' | 'along' | 'startPolicy'>;

/** `told` by recipe; `waiting`: recipes whose claims are registered and not played. */
export const claimsPage = (
  records: readonly Judged[],
  told: Readonly<Record<string, Told>> = {},
  waiting: readonly string[] = [],
): string =>
  [
    '# Claims at small scale',
    '',
    INTRODUCTION,
    countedVerdicts(records),
    '',
    ...overview(records),
    '',
    ...waitingText(waiting),
    ...records.map((record) => section(record, told[record.recipe] ?? {})),
  ].join('\n');
