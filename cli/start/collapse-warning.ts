/**
 * Detects a collapse from a run's whole course: held-out accuracy that was lost beyond chance, entropy that went with it, a judge that got worse.
 * Exact accuracy on the round's own tasks is not used: where tasks are drawn, the held-out tasks show the same, and a proposer lowers it
 * by doing its job. Nor is the judge's accuracy on the round's own answers, which get harder to tell apart.
 */
import type { ComparedFigure } from '../../core/schema/evaluation.ts';
import type { Summary } from '../../core/schema/summary.ts';
import { decimal, percent } from '../shared/figures.ts';
import { ends, known } from './windows.ts';

/** The lost share that counts as a collapse. */
const LOSS = 0.1;
/** A tolerance, so that rounding does not decide; shares are of hundreds of tasks. */
const ROUNDING = 1e-9;

interface Course {
  readonly figure: ComparedFigure;
  readonly of: string;
  readonly first: number;
  readonly best: number;
  readonly last: number;
  readonly lost: number;
}

/** The course of a figure; null where fewer than two points were measured. */
function courseOf(figure: ComparedFigure, of: string, points: readonly (number | null)[]): Course | null {
  const values = known(points);
  if (values.length < 2) return null;
  const [first, best, last] = [values[0]!, Math.max(...values), values.at(-1)!];
  return { figure, of, first, best, last, lost: best - last + ROUNDING };
}

const fallOf = ({ of, best, last }: Course) =>
  `${of} ended at ${percent(last, 1)}, ${(100 * (best - last)).toFixed(1)} points below its best`;

/** Does the exact paired test find the loss, too? What cannot be tested is not said. */
const isBeyondChance = ({ sinceBest }: Summary, { figure }: Course): boolean =>
  sinceBest?.[figure]?.verdict === 'fell';

/**
 * The held-out accuracies that were lost. A policy that stops writing steps loses greedy accuracy but may know more than before: that
 * loss counts only where the sampled answers, if there are any, got worse as well.
 */
function accuracyFalls(summary: Summary): string[] {
  const { heldout } = summary;
  const sampled = courseOf(
    'sampled',
    'sampled accuracy',
    heldout.map((point) => point.sampled),
  );
  const greedy = courseOf(
    'accuracy',
    sampled ? 'greedy accuracy' : 'accuracy',
    heldout.map((point) => point.accuracy),
  );
  const sank = !sampled || sampled.last < sampled.first || sampled.lost >= LOSS / 2;
  return [sank ? greedy : null, sampled].flatMap((course) =>
    course && course.lost >= LOSS && isBeyondChance(summary, course) ? [fallOf(course)] : [],
  );
}

/** The entropy in the first and in the last of those rounds that trained the same parameter sets as the last round. */
function entropyEnds({ monitors = [] }: Summary) {
  const setsOf = ({ figures }: (typeof monitors)[number]) =>
    Object.keys(figures)
      .filter((figure) => figure.endsWith('/gradientNorm'))
      .join();
  const measured = monitors.filter(({ figures }) => typeof figures.entropy === 'number');
  const last = measured.at(-1);
  const alike = measured.filter((point) => last && setsOf(point) === setsOf(last));
  return ends(alike.map(({ figures }) => figures.entropy ?? null));
}

/** A sentence on the collapse; null for a run that did not collapse. */
export function collapseSentence(summary: Summary): string | null {
  const falls = accuracyFalls(summary);
  const [before, after] = entropyEnds(summary);
  if (falls.length && before !== null && after !== null && after < before / 2)
    falls.push(`its entropy went from ${decimal(before)} to ${decimal(after)} nats per token`);
  const judge = courseOf(
    'judge',
    'the judge’s balanced accuracy on the fixed set',
    summary.judge.map(({ fixed }) => fixed),
  );
  // A judge that was never better than chance had nothing to lose.
  const lost = judge && judge.best >= 0.5 && (judge.lost >= LOSS || judge.last < 0.5);
  if (lost && isBeyondChance(summary, judge)) falls.push(fallOf(judge));
  return falls.length ? `The run collapsed: ${falls.join('; ')}.` : null;
}
