/**
 * A run that collapsed says so, from its whole course: what it once knew on the held-out tasks and lost, entropy that went with it, a
 * judge that got worse. Exact accuracy on the round's own tasks is left out: where they are drawn the held-out tasks say the same, and
 * a proposer makes it fall by doing its job. So is the judge on the round's own answers, which get harder to tell apart.
 */
import type { Summary } from '../../core/schema/summary.ts';
import { decimal, percent } from '../shared/figures.ts';
import { ends, known } from './windows.ts';

/** A share lost that counts as a collapse. */
const LOSS = 0.1;
/** Shares are of hundreds of tasks: rounding must not decide. */
const ROUNDING = 1e-9;

interface Course {
  readonly of: string;
  readonly first: number;
  readonly best: number;
  readonly last: number;
  readonly lost: number;
}

/** null where fewer than two points were measured. */
function courseOf(of: string, points: readonly (number | null)[]): Course | null {
  const values = known(points);
  if (values.length < 2) return null;
  const [first, best, last] = [values[0]!, Math.max(...values), values.at(-1)!];
  return { of, first, best, last, lost: best - last + ROUNDING };
}

const fallOf = ({ of, best, last }: Course) =>
  `${of} ended at ${percent(last, 1)}, ${(100 * (best - last)).toFixed(1)} points below its best`;

/**
 * Held-out accuracy that was lost. A policy that leaves out its steps loses greedy accuracy and may know more than before: that counts
 * only where the sampled answers, if there are any, got worse as well.
 */
function accuracyFalls({ heldout }: Summary): string[] {
  const sampled = courseOf(
    'sampled accuracy',
    heldout.map((point) => point.sampled),
  );
  const greedy = courseOf(
    sampled ? 'greedy accuracy' : 'accuracy',
    heldout.map((point) => point.accuracy),
  );
  const sank = !sampled || sampled.last < sampled.first || sampled.lost >= LOSS / 2;
  return [sank ? greedy : null, sampled].flatMap((course) =>
    course && course.lost >= LOSS ? [fallOf(course)] : [],
  );
}

/** Entropy of the first and of the last rounds that trained the same parameter sets as the last one did. */
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

/** null for a run that did not collapse. */
export function collapseSentence(summary: Summary): string | null {
  const falls = accuracyFalls(summary);
  const [before, after] = entropyEnds(summary);
  if (falls.length && before !== null && after !== null && after < before / 2)
    falls.push(`its entropy fell from ${decimal(before)} to ${decimal(after)} nats a token`);
  const judge = courseOf(
    'the judge’s balanced accuracy on the fixed set',
    summary.judge.map(({ fixed }) => fixed),
  );
  if (judge && (judge.lost >= LOSS || (judge.best >= 0.5 && judge.last < 0.5))) falls.push(fallOf(judge));
  return falls.length ? `The run collapsed: ${falls.join('; ')}.` : null;
}
