/**
 * The summary printed at the end of a run: what changed, by how much, and what kind of change it is. A policy that begins to write
 * its steps looks like one that learned arithmetic; accuracy with the steps forced tells the two apart, so it is printed.
 */
import type { Summary } from '../../core/schema/summary.ts';
import { decimal, dollars, percent, points } from '../shared/figures.ts';
import { wrap } from '../shared/wrap.ts';
import { collapseSentence } from './collapse-words.ts';
import { ends } from './windows.ts';

type HeldOut = Summary['heldout'][number];
/** An evaluation on tasks that can be solved with or without steps. */
type WorkedPoint = HeldOut & { readonly [figure in 'sampled' | 'worked' | 'forcedWorked']: number };

const isWorked = (point: HeldOut): point is WorkedPoint =>
  point.sampled !== null && point.worked !== null && point.forcedWorked !== null;
type Change = 'rose' | 'fell' | 'stayed';

const WIDTH = 100;
/** The share of the best accuracy that must be lost at the end to be mentioned. */
const FALLBACK = 0.05;

/**
 * Has a share of n changed? By two standard errors of a difference of independent proportions. The tasks are the same
 * at both ends, which makes the true error smaller: a change that is reported is real, a small one may go unreported.
 */
function changeOf(before: number, after: number, n: number): Change {
  const error = Math.sqrt((before * (1 - before) + after * (1 - after)) / n);
  if (Math.abs(after - before) <= 2 * error) return 'stayed';
  return after > before ? 'rose' : 'fell';
}

const span = (before: number, after: number) =>
  `from ${percent(before, 1)} to ${percent(after, 1)} (${points(after - before)} points)`;

const standstill = (before: number, after: number) =>
  `did not change significantly (${percent(before, 1)} to ${percent(after, 1)}, ${points(after - before)} points)`;

/** Says "rose from … to …", or that the difference is within chance. */
function move(before: number, after: number, n: number): string {
  const change = changeOf(before, after, n);
  return change === 'stayed' ? standstill(before, after) : `${change} ${span(before, after)}`;
}

/** A sentence on the kind of change that the figures together show. */
function verdict(start: WorkedPoint, end: WorkedPoint): string {
  const greedy = changeOf(start.accuracy, end.accuracy, end.n);
  const forced = changeOf(start.forcedWorked, end.forcedWorked, end.n);
  const worked = changeOf(start.worked, end.worked, end.n);
  if (greedy === 'rose') {
    if (forced === 'rose')
      return worked === 'rose'
        ? 'so it writes its steps more often and gets them right more often'
        : 'so its arithmetic got better';
    if (worked === 'rose')
      return 'so the gain is mostly the choice to write steps, which it could do before, not better arithmetic';
    return 'so the gain is in answers without steps, not in worked arithmetic';
  }
  if (forced === 'rose') return 'so its arithmetic got better where it writes its steps';
  if (forced === 'fell') return 'so arithmetic was lost';
  if (greedy === 'fell')
    return worked === 'fell'
      ? 'so the loss is mostly the choice to leave out steps'
      : 'so the loss is not in worked arithmetic';
  const sampled = changeOf(start.sampled, end.sampled, end.n);
  if (sampled === 'rose') return 'so it became surer of what its likeliest answers knew before';
  if (sampled === 'fell') return 'so it became less sure of what its likeliest answers still know';
  return 'so these tasks show no learning';
}

function accuracySentence({ rounds, heldout, from }: Summary): string {
  const start = heldout[0];
  const end = heldout.at(-1);
  if (!start || !end) return 'No version was evaluated, so there is nothing to say about accuracy.';
  if (start === end)
    return `Version ${from} answers ${percent(end.accuracy, 1)} of ${end.n} held-out ${end.task} tasks; no later version was evaluated.`;
  const { n } = end;
  const best = heldout.reduce((a, b) => (b.accuracy > a.accuracy ? b : a));
  const fallback =
    best.accuracy - end.accuracy > FALLBACK
      ? ` It was at its best, ${percent(best.accuracy, 1)}, after round ${best.round}.`
      : '';
  // What has no sampled accuracy may be no accuracy either, such as the likelihood of held-out answers.
  const score = end.sampled === null ? 'the main score' : 'greedy accuracy';
  const greedy =
    `After ${rounds} ${rounds === 1 ? 'round' : 'rounds'}${from ? ` from version ${from}` : ''}, ${score} on ${n} held-out ${end.task} tasks ` +
    move(start.accuracy, end.accuracy, n);
  const sampled =
    start.sampled === null || end.sampled === null
      ? ''
      : ` and sampled accuracy ${move(start.sampled, end.sampled, n)}`;
  if (!isWorked(start) || !isWorked(end)) return `${greedy}${sampled}.${fallback}`;
  return (
    `${greedy}${sampled}; ` +
    `the share of greedy answers with written steps ${move(start.worked, end.worked, n)} ` +
    `and accuracy when forced to write them ${move(start.forcedWorked, end.forcedWorked, n)}, ` +
    `${verdict(start, end)}.${fallback}`
  );
}

/** Names the other runs that trained the policy meanwhile; null where there is none. */
const othersSentence = ({ others, policy }: Summary): string | null =>
  others
    ? `Other runs made ${others} ${others === 1 ? 'version' : 'versions'} of ${policy} between the rounds of this one, so the change is not this run's alone.`
    : null;

/** `n`: the number of held-out tasks, on answers to which the judge is asked. */
const judgeMove = (before: number, after: number, n: number | undefined) =>
  n !== undefined && changeOf(before, after, n) === 'stayed'
    ? standstill(before, after)
    : `went ${span(before, after)}`;

/** A sentence on judge and proposer, which says where one kept version 0; null for a recipe that has neither. */
function partnersSentence({ judge, proposer, freeze, versions, heldout }: Summary): string | null {
  const frozen = (role: string) => (freeze.includes(role) ? ', frozen,' : '');
  const before = judge[0]?.fixed ?? null;
  const after = judge.at(-1)?.fixed ?? null;
  const judged =
    before === null || after === null
      ? 'could not be measured on the fixed set'
      : judge.length === 1
        ? `has ${percent(after, 1)} balanced accuracy on the fixed set`
        : `${judgeMove(before, after, heldout.at(-1)?.n)} in balanced accuracy on the fixed set`;
  const [easy, hard] = ends(proposer.map(({ difficulty }) => difficulty));
  const passed = ends(proposer.map(({ passRate }) => passRate))[1];
  const partners = [
    ...('judge' in versions ? [`the judge${frozen('judge')} ${judged}`] : []),
    ...('proposer' in versions
      ? [`the proposer${frozen('proposer')} ${proposedOf(easy, hard, passed)}`]
      : []),
  ].join('; ');
  return partners ? `${partners[0]!.toUpperCase()}${partners.slice(1)}.` : null;
}

function proposedOf(first: number | null, last: number | null, passed: number | null): string {
  if (first === null || last === null)
    return passed === null
      ? 'wrote no tasks that could be rated'
      : `wrote tasks (${percent(passed)} of the attempts at the round’s tasks passed)`;
  const [before, after] = [decimal(first), decimal(last)];
  const difficulty = before === after ? `${after} throughout` : `${before} at first and ${after} at last`;
  return `wrote tasks of difficulty ${difficulty} (${percent(passed)} solved)`;
}

/** A sentence on the cost; null where the run used nothing of the platform. */
function costSentence({ cost, heldout }: Summary): string | null {
  if (!cost) return null;
  const [start, end] = [heldout[0], heldout.at(-1)];
  // A price for points that may be chance would vouch for them.
  const rose = start && end && changeOf(start.accuracy, end.accuracy, end.n) === 'rose';
  const parts = [
    `${dollars(cost.perRound)} per round`,
    ...(cost.perMillionTokens === null
      ? []
      : [`${dollars(cost.perMillionTokens)} per million generated tokens`]),
    ...(cost.perPoint === null || !rose ? [] : [`${dollars(cost.perPoint)} per point of held-out accuracy`]),
  ];
  return `On Cloudflare, at the prices of ${cost.pricesOf} and without the learner’s machine, it would cost ${dollars(cost.cost.total)}: ${parts.join(', ')}.`;
}

/**
 * Sentences on what changed and what to do next, in lines of at most 100 columns without a newline at the end. `flags`: what the commands
 * need to find the policy, such as ` --state DIR`.
 */
export function closingWords(summary: Summary, flags = ''): string {
  const version = Math.max(0, ...Object.values(summary.versions));
  const policy = `${summary.policy} ${version}`;
  const cost = costSentence(summary);
  const said = [
    accuracySentence(summary),
    othersSentence(summary),
    collapseSentence(summary),
    partnersSentence(summary),
  ];
  return [
    ...wrap(said.filter(Boolean).join(' '), WIDTH),
    ...(cost === null ? [] : wrap(cost, WIDTH)),
    '',
    'Next:',
    `  npm run policy -- eval ${policy} --tasks FILE${flags}`,
    `  npm run policy -- export ${policy} DIR${flags}`,
    '  (FILE has one JSON object per line: {"question": "…", "answer": "…"})',
  ].join('\n');
}
