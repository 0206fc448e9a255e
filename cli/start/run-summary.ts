/**
 * The summary printed at the end of a run: what changed, by how much, and what kind of change it is. A policy that begins to write
 * its steps looks like one that learned arithmetic; accuracy with the steps forced tells the two apart, so it is printed.
 */
import type { ComparedFigure } from '../../core/schema/evaluation.ts';
import type { Summary } from '../../core/schema/summary.ts';
import { type Change, fewWords, LEVEL, pWords } from '../../core/statistics/change.ts';
import { decimal, dollars, percent, points } from '../shared/figures.ts';
import { wrap } from '../shared/wrap.ts';
import { collapseSentence } from './collapse-warning.ts';
import { ends } from './windows.ts';

type HeldOut = Summary['heldout'][number];

const WIDTH = 100;
/** The share of the best accuracy that must be lost at the end to be mentioned. */
const FALLBACK = 0.05;

const chanceOf = ({ p }: Change) => (p === null ? '' : `, ${pWords(p)}`);

/**
 * Says "rose from … to …" only of what the exact test finds, and else what keeps it from being said. `n`: the number of questions. `unit`:
 * what the two numbers are, such as ` in balanced accuracy`.
 */
function move(before: number, after: number, n: number, change: Change, unit = ''): string {
  const [from, to] = [percent(before, 1), percent(after, 1)];
  const by = `${points(after - before)} points`;
  switch (change.verdict) {
    case 'chance':
      return `did not change beyond chance (${from} to ${to}, ${by}${chanceOf(change)})${unit}`;
    case 'few':
      return `went from ${from} to ${to}${unit}, and ${fewWords(n)}`;
    case 'untested':
      return `went from ${from} to ${to} (${by}, not tested against chance)${unit}`;
    default:
      return `${change.verdict} from ${from} to ${to} (${by}${chanceOf(change)})${unit}`;
  }
}

const UNTESTED: Change = { verdict: 'untested', p: null };
const changeIn = (point: HeldOut, figure: ComparedFigure): Change => point.changes?.[figure] ?? UNTESTED;

const FIGURES = ['accuracy', 'forcedWorked', 'worked', 'sampled'] as const;

const isUnsure = ({ verdict, p }: Change): boolean =>
  verdict === 'few' || verdict === 'untested' || (verdict !== 'chance' && (p ?? 1) >= LEVEL / FIGURES.length);

/** A sentence on the kind of change that the figures together show. */
function verdict(end: HeldOut): string | null {
  const [greedy, forced, worked, sampled] = FIGURES.map((figure) => changeIn(end, figure).verdict);
  // A sentence over four tests speaks where each change would stand in four looks as well (Bonferroni).
  const changed = FIGURES.map((figure) => changeIn(end, figure));
  if (changed.some(isUnsure)) return null;
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
  if (sampled === 'rose') return 'so sampling got closer to greedy: no new skill';
  if (sampled === 'fell') return 'so sampling got further from greedy: no skill was lost';
  return 'so there is no measurable improvement on these tasks';
}

function accuracySentence({ rounds, heldout, from, sinceBest }: Summary): string {
  const start = heldout[0];
  const end = heldout.at(-1);
  if (!start || !end) return 'No version was evaluated, so there is nothing to say about accuracy.';
  if (start === end)
    return `Version ${end.version ?? from} answers ${percent(end.accuracy, 1)} of ${end.n} held-out ${end.task} tasks; no other version was evaluated.`;
  const { n } = end;
  const best = heldout.reduce((a, b) => (b.accuracy > a.accuracy ? b : a));
  const fallback =
    best.accuracy - end.accuracy > FALLBACK && sinceBest?.accuracy?.verdict === 'fell'
      ? ` It was at its best, ${percent(best.accuracy, 1)}, after round ${best.round}.`
      : '';
  // What has no sampled accuracy may be no accuracy either, such as the likelihood of held-out answers.
  const score = end.sampled === null ? 'the main score' : 'greedy accuracy';
  const last =
    end.version === undefined || end.version === end.round + from ? '' : ` (version ${end.version})`;
  const after =
    end.round === rounds
      ? `After ${rounds} ${rounds === 1 ? 'round' : 'rounds'}${last}`
      : `After round ${end.round} of ${rounds}, the last that was evaluated${last}`;
  const moved = (figure: 'accuracy' | 'sampled' | 'worked' | 'forcedWorked') =>
    start[figure] === null || end[figure] === null
      ? null
      : move(start[figure], end[figure], n, changeIn(end, figure));
  const greedy = `${after}${from ? ` from version ${from}` : ''}, ${score} on ${n} held-out ${end.task} tasks ${moved('accuracy')}`;
  const few = changeIn(end, 'accuracy').verdict === 'few';
  const sampled = few ? null : moved('sampled');
  const sentence = `${greedy}${sampled === null ? '' : ` and sampled accuracy ${sampled}`}`;
  const [worked, forced] = few ? [null, null] : [moved('worked'), moved('forcedWorked')];
  if (worked === null || forced === null) return `${sentence}.${fallback}`;
  const kind = verdict(end);
  return (
    `${sentence}; the share of greedy answers with written steps ${worked} ` +
    `and accuracy when forced to write them ${forced}${kind === null ? '' : `, ${kind}`}.${fallback}`
  );
}

/** Names the other runs that trained the policy meanwhile; null where there is none. */
const othersSentence = ({ others, policy }: Summary): string | null =>
  others
    ? `Other runs made ${others} ${others === 1 ? 'version' : 'versions'} of ${policy} between the rounds of this one, so the change is not this run's alone.`
    : null;

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
        : move(
            before,
            after,
            heldout.at(-1)?.n ?? 0,
            heldout.at(-1)?.changes?.judge ?? UNTESTED,
            ' in balanced accuracy on the fixed set',
          );
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
  // A price for points that may be chance would vouch for them.
  const rose = heldout.at(-1)?.changes?.accuracy?.verdict === 'rose';
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
    `  npx rollmesh policy eval ${policy} --tasks FILE${flags}`,
    `  npx rollmesh policy export ${policy} DIR${flags}`,
    '  (FILE has one JSON object per line: {"question": "…", "answer": "…"})',
  ].join('\n');
}
