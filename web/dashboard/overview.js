/** The top of a run's page: the run, the state of its current round, and what has changed since the version that it began from. */
import { h, renew, term } from './dom.js';
import {
  counted,
  decimal,
  duration,
  humanised,
  MISSING,
  meaningOf,
  percent,
  points,
  significant,
  whole,
} from './figures.js';
import { isRung } from './rungs.js';

/** @typedef {import('./api.js').Run} Run */
/** @typedef {import('./api.js').Round} Round */
/** @typedef {import('./api.js').EvaluationReport} EvaluationReport */
/** @typedef {import('./api.js').Recipe} Recipe */
/** @typedef {import('./curves.js').Point} Point */
/** @typedef {NonNullable<NonNullable<EvaluationReport['changes']>['accuracy']>} Said */

/** What tells a run of a recipe from others, besides its seed. @param {Run['settings']} settings */
const variantOf = ({ rewardFunction, freeze, variant, weights, engine, ahead }) =>
  [
    variant && `variant ${variant}`,
    `reward ${rewardFunction}`,
    ...freeze.map((role) => `${role} frozen`),
    weights && `weights ${weights}`,
    engine && `engine ${engine}`,
    ahead && `${ahead} ahead`,
  ].filter(Boolean);

/** What people call the recipe of a run: that of one's own run has a hash in its name. @param {Pick<Run, 'called' | 'settings'>} run */
const recipeOf = ({ called, settings }) => called ?? settings.recipe;

/** @param {Run} run */
export function runName(run) {
  const { settings, label } = run;
  if (label.name) return label.name;
  const { seed, tasks, groupSize } = settings;
  return [recipeOf(run), ...variantOf(settings), `seed ${seed}`, `${tasks} × ${groupSize}`].join(', ');
}

/** The same for all runs that differ by their seed alone. @param {Run} run */
export const familyOf = ({ settings: { seed: _, policy: __, ...settings } }) => JSON.stringify(settings);

/** @param {Run} run */
const familyParts = (run) => [
  recipeOf(run),
  ...variantOf(run.settings),
  `${run.settings.tasks} × ${run.settings.groupSize}`,
];

/** @param {Run} run */
export const familyName = (run) => familyParts(run).join(', ');

/** Names of families that are seen together: the recipe, and what not all of them have. @param {readonly Run[]} runs one of each family */
export function namesBeside(runs) {
  const parts = runs.map(familyParts);
  const common = (parts[0] ?? []).filter((part) => parts.every((other) => other.includes(part)));
  const short = parts.map(([recipe, ...more]) =>
    [recipe, ...more.filter((part) => !common.includes(part))].join(', '),
  );
  return new Set(short).size === short.length ? short : runs.map(familyName);
}

/**
 * @param {Element} element
 * @param {Run} run
 * @param {number} done
 * @param {Recipe | null} known
 */
export function showTitle(element, run, done, known) {
  const { settings, target, state } = run;
  const { recipe, seed, policy, tasks, groupSize, ahead = 0 } = settings;
  const rest =
    state === 'stopped'
      ? 'It has stopped.'
      : state === 'paused'
        ? 'It is paused: `npx rollmesh start --resume` goes on with it.'
        : done >= target
          ? 'It has ended.'
          : '';
  renew(
    element,
    h(
      'h1',
      { title: recipe },
      recipeOf(run),
      ' ',
      h('span', {}, [...variantOf(settings), `seed ${seed}`].join(' · ')),
    ),
    h(
      'p',
      {},
      `Trains ${policy}: ${counted(target, 'round')} of ${tasks} tasks × ${groupSize} rollouts, ${whole(done)} done. ${overlap(ahead)}${rest}`,
    ),
    known && h('p', { class: 'roles' }, known.summary),
    known &&
      h(
        'p',
        { class: 'note' },
        known.roles
          .map(
            ({ role, description, set }) =>
              `${role}: ${description}${set === 'main' ? '' : ` (weights ${set})`}`,
          )
          .join(' · '),
        known.paper.source ? ` · ${known.paper.title}, ${known.paper.source}` : '',
      ),
  );
}

/** What a run that is rounds ahead says of itself. @param {number} ahead */
const overlap = (ahead) =>
  ahead
    ? `While a round trains, the next ${ahead === 1 ? 'one is' : `${ahead} are`} rolled out: round r samples with version r − ${ahead + 1}. `
    : '';

/** @typedef {import('../../core/round/stages.ts').QueueName} StageName */
/** @typedef {'waiting' | 'active' | 'done' | 'failed'} CardState */
/** @typedef {{ title: string, state: CardState, description: string }} StageCard */

/**
 * The stages in their order, each with the state of a round in which it works. Rollout and judging overlap: a group is judged as soon
 * as it is rolled out. The type is that of the table in core/round/stages.ts, so that this list cannot differ from it.
 * @type {import('../../core/round/stages.ts').StageOrder}
 */
const STAGES = [
  { name: 'propose', during: 'proposing' },
  { name: 'rollout', during: 'rollout' },
  { name: 'judge', during: 'rollout' },
  { name: 'scored', during: 'training' },
];

/**
 * What the card of each stage says of a round: its title and what is done.
 * @type {Readonly<Record<StageName, (round: Round, before?: Round) => readonly [title: string, description: string]>>}
 */
const CARDS = {
  propose: ({ expected, proposed }) =>
    !expected
      ? ['propose', 'tasks']
      : proposed
        ? expected <= proposed
          ? ['propose', `${whole(expected)} of ${whole(proposed)} admitted`]
          : ['propose', `${whole(proposed)} proposed, ${whole(expected)} asked`]
        : ['draw', `${whole(expected)} drawn`],
  rollout: ({ expected }) => ['rollout', expected ? counted(expected, 'task') : MISSING],
  judge: ({ roles, expected, groups: { scored, trained, failed } }) => [
    'judge' in roles ? 'judge' : 'reward',
    expected
      ? `${whole(scored + trained)} of ${whole(expected)}${failed ? `, ${whole(failed)} failed` : ''}`
      : MISSING,
  ],
  scored: ({ state, groups, report }, before) => {
    if (report?.training) return ['train', `${whole(report.training.tokens)} tokens`];
    if (state !== 'training') return ['train', MISSING];
    return ['train', before ? `after round ${before.index}` : counted(groups.scored, 'group')];
  },
};

/**
 * Where a round stands: a card for each stage, and one for the version that it publishes.
 * @param {Round} round
 * @param {Round} [before] an earlier round of the run that has not ended, and is trained first
 * @returns {StageCard[]}
 */
export function stageCards(round, before) {
  const { state, version } = round;
  const first = STAGES.findIndex(({ during }) => during === state);
  /** @type {(position: number) => CardState} */
  const stateOf = (position) => {
    if (state === 'failed' || state === 'done') return state;
    if (position < first) return 'done';
    if (state === 'training' && before) return 'waiting';
    return STAGES[position]?.during === state ? 'active' : 'waiting';
  };
  const cards = STAGES.map(({ name }, i) => {
    const [title, description] = CARDS[name](round, before);
    return { title, state: stateOf(i), description };
  });
  const published = version === null ? MISSING : `version ${version}`;
  return [...cards, { title: 'publish', state: stateOf(STAGES.length), description: published }];
}

/** What a screen reader says about a stage after its name. */
const STATE_WORDS = { waiting: 'waiting', active: 'under way', done: 'done', failed: 'failed' };

/** The versions that a round samples with, in words. @param {Round} round */
function sampledWith({ roles }) {
  const versions = [...new Set(Object.values(roles).map(({ version }) => version))].sort((a, b) => a - b);
  return `samples with version${versions.length > 1 ? 's' : ''} ${versions.join(' and ')}`;
}

/**
 * The rounds that are under way, oldest first, or else the newest.
 * @param {Element} element
 * @param {Run} run
 * @param {readonly Round[]} rounds ascending
 * @param {number} now
 */
export function showPipeline(element, run, rounds, now) {
  const open = rounds.filter(({ endedAt }) => endedAt === null);
  const shown = open.length ? open : rounds.slice(-1);
  if (!shown.length) {
    renew(element, h('p', { class: 'note' }, 'No round has begun.'));
    return;
  }
  renew(element, ...shown.flatMap((round, i) => lane(run, round, shown[i - 1], now)));
}

/**
 * Is a round played at this moment? One that has not ended waits where its run is paused or was stopped.
 * @param {Pick<Run, 'state'> | undefined} run
 * @param {Pick<Round, 'endedAt'>} round
 */
export const isPlayed = (run, { endedAt }) => endedAt === null && (run === undefined || run.state === 'open');

/**
 * How long a round has taken; of one that waits, why: its time goes on and says nothing.
 * @param {Pick<Run, 'state'>} run
 * @param {Pick<Round, 'endedAt' | 'createdAt'>} round
 * @param {number} now
 */
export const roundTime = (run, round, now) =>
  round.endedAt === null && !isPlayed(run, round)
    ? run.state
    : duration(Math.max(0, (round.endedAt ?? now) - round.createdAt));

/**
 * @param {Run} run
 * @param {Round} round
 * @param {Round | undefined} before the round that is trained before it and has not ended
 * @param {number} now
 */
function lane(run, round, before, now) {
  const judged = round.groups.scored + round.groups.trained + round.groups.failed;
  return [
    h(
      'h2',
      {},
      `Round ${round.index} `,
      h('span', {}, `of ${run.target} · ${roundTime(run, round, now)} · ${sampledWith(round)}`),
    ),
    h(
      'ol',
      { class: 'stages' },
      ...stageCards(round, before).map(({ title, state: stage, description }) => {
        const state =
          stage === 'active' && round.endedAt === null && !isPlayed(run, round) ? 'waiting' : stage;
        return h(
          'li',
          { class: state, 'aria-current': state === 'active' ? 'step' : null },
          h('b', {}, title),
          h('span', { class: 'hidden' }, ` ${STATE_WORDS[state]}: `),
          h('span', {}, description),
        );
      }),
    ),
    round.state === 'rollout' &&
      h('progress', { max: Math.max(1, round.expected), value: judged, 'aria-label': 'groups judged' }),
    round.reason && h('p', { class: 'warning' }, round.reason),
  ];
}

/** Within chance a change is grey. @param {Said['verdict']} verdict */
export const toneOf = (verdict) => (verdict === 'rose' ? 'good' : verdict === 'fell' ? 'warn' : 'faint');

/** @type {Readonly<Record<Said['verdict'], string>>} */
export const VERDICT_WORDS = {
  rose: 'Rose beyond chance',
  fell: 'Fell beyond chance',
  chance: 'Within chance',
  few: 'Too few questions to tell from chance',
  untested: 'Not tested against chance',
};

/** What a change since the first version says, as the terminal says it. @param {Said} said @param {number} n */
export function changeWords({ verdict, p }, n) {
  const chance = p === null ? '' : `: exact paired test, p ${p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`}`;
  return `${VERDICT_WORDS[verdict]} (${counted(n, 'question')}${chance})`;
}

/** How many of the recipe's own figures stand beside the usual ones. */
const OWN_FIGURES = 6;

/** @type {readonly { name: string, of: import('../../core/schema/evaluation.ts').ComparedFigure, read: (evaluation: EvaluationReport) => number | null, hint: string }[]} */
const FIGURES = [
  { name: 'greedy', of: 'accuracy', read: ({ heldOut }) => heldOut.accuracy, hint: 'held-out accuracy' },
  { name: 'sampled', of: 'sampled', read: ({ heldOut }) => heldOut.sampled, hint: 'held-out accuracy' },
  {
    name: 'steps forced',
    of: 'forcedWorked',
    read: ({ heldOut }) => heldOut.forcedWorked,
    hint: 'held-out accuracy: skill',
  },
  {
    name: 'share with steps',
    of: 'worked',
    read: ({ heldOut }) => heldOut.worked,
    hint: 'of greedy answers: strategy',
  },
  { name: 'judge', of: 'judge', read: ({ judge }) => judge.fixed, hint: 'balanced accuracy, fixed set' },
];

/**
 * Compares the last evaluation with the first.
 * @param {Element} element
 * @param {readonly Point[]} known
 * @param {Readonly<Record<string, string>>} [meanings] what the recipe’s own figures mean, by name
 */
export function showFigures(element, known, meanings = {}) {
  const evaluations = known.flatMap(({ report }) => report.evaluation ?? []);
  const [first] = evaluations;
  const last = evaluations.at(-1);
  if (!first || !last) {
    renew(element, h('p', { class: 'note' }, 'No version has been evaluated yet.'));
    return;
  }
  const difficulty = known.findLast(({ report }) => report.monitors)?.report.monitors?.difficulty;
  const initial = known.find(({ report }) => report.monitors)?.report.monitors?.difficulty;
  renew(
    element,
    h('p', { class: 'hidden' }, `Version ${last.version} against version ${first.version}`),
    h(
      'dl',
      { class: 'headline' },
      ...FIGURES.flatMap(({ name, of, read, hint }) => {
        const [before, after] = [read(first), read(last)];
        if (after === null) return [];
        const change = before === null || first === last ? null : after - before;
        const said = last.changes?.[of] ?? { verdict: 'untested', p: null };
        return [
          figure(name, percent(after, 1), hint, change === null ? '' : points(change), {
            tone: toneOf(said.verdict),
            meaning: change === null ? undefined : changeWords(said, last.heldOut.n),
          }),
        ];
      }),
      ...Object.entries(last.figures ?? {})
        .filter(([name, value]) => value !== null && !isRung(name))
        .slice(0, OWN_FIGURES)
        .map(([name, value]) => {
          const before = first === last ? null : first.figures?.[name];
          return figure(
            humanised(name),
            significant(value),
            'evaluation',
            before == null ? '' : `from ${significant(before)}`,
            { meaning: meaningOf(meanings, name) },
          );
        }),
      difficulty != null &&
        figure(
          'difficulty',
          decimal(difficulty),
          'of the round’s tasks',
          initial == null ? '' : `from ${decimal(initial)}`,
        ),
    ),
  );
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} hint
 * @param {string} change
 * @param {{ tone?: string, meaning?: string | undefined }} [about]
 */
const figure = (name, value, hint, change, { tone = 'faint', meaning } = {}) =>
  h(
    'div',
    { title: meaning },
    h('dt', {}, term(name), ' ', h('small', {}, hint)),
    h(
      'dd',
      {},
      h('b', {}, value),
      ' ',
      h('span', { class: tone }, change),
      meaning && h('span', { class: 'hidden' }, `. ${meaning}`),
    ),
  );
