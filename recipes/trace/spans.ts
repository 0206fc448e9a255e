/** The tokens on which a teacher is used: the first wrong part of a wrong attempt, and the part of a right one at which others failed. */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { critiqueOf } from '../../protocols/critic.ts';
import { attemptOf, isPaid } from '../../protocols/privileged-teacher.ts';
import type { TaughtSample } from '../../protocols/teacher-pass.ts';
import { firstCorrected, linesOfTokens } from './lines.ts';

export type RoutedGame = Game<'solve' | 'retell' | 'correct'>;
type Group = Pick<ScoredGroup, 'task' | 'samples' | 'judgments'>;
type Tools = Pick<LearnTools, 'decode' | 'encode' | 'renderer'>;

/** The most frequent of some numbers, the smallest of equally frequent ones; null without numbers. */
export function commonest(numbers: readonly number[]): number | null {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const [first] = [...counts].sort(([a, inA], [b, inB]) => inB - inA || a - b);
  return first ? first[0] : null;
}

export interface Spans {
  /** Right attempts at tasks that others failed, each with its decisive part marked. */
  readonly decisive: readonly TaughtSample[];
  /** Wrong attempts, each with its first fault marked. */
  readonly faulty: readonly TaughtSample[];
}

export type Marking = 'spans' | 'whole' | 'random';

/** What is known of the parts of an attempt. */
interface Parts {
  /** The first wrong one; null in a right attempt. */
  readonly fault: number | null;
  /** The part that each token belongs to [ids]; below 0 = to none. */
  readonly of: readonly number[];
  /** The prompt of a teacher that is heard at a part. */
  readonly teacher: (part: number) => string;
}

/** The parts of an attempt, by the checker of steps or else by a critic's lines; null where nobody knows where the attempt is right or wrong. */
function partsOf(game: RoutedGame, group: Group, s: number, tools: Tools): Parts | null {
  const { steps, words } = game;
  const { task } = group;
  const sample = group.samples[s]!;
  const attempt = attemptOf(game, group, s, tools);
  if (!attempt.ok || attempt.value.steps.length === 0) return null;
  const corrected = (feedback: string) => words.correct.ask({ task, feedback }, tools);
  if (steps)
    return {
      fault: steps.firstFault(task, attempt.value),
      of: steps.partsOf(sample.ids, tools.encode),
      teacher: (part) => corrected(steps.upTo(task, part)),
    };
  const said = game.said(tools.decode(sample.ids), tools);
  const of = linesOfTokens(sample.ids, said, tools.decode);
  if (!of) return null;
  if (isPaid(sample)) {
    const solution = game.write(game.reference!(task));
    return { fault: null, of, teacher: () => words.retell.ask({ task, solution }, tools) };
  }
  const critique = critiqueOf(game, group, sample.id, tools);
  const fault = critique === null ? null : firstCorrected(said, critique);
  return fault === null ? null : { fault, of, teacher: () => corrected(critique!) };
}

/**
 * Attempts with their teachers' prompts, and weights of 1 on the tokens of the marked part and 0 elsewhere. `random` marks a random part of the
 * attempt instead, and `whole` marks all parts; the teacher reads the same. Attempts that have no steps or do not parse are left out.
 */
export function spansOf(game: RoutedGame, groups: readonly Group[], tools: Tools, marking: Marking): Spans {
  const decisive: TaughtSample[] = [];
  const faulty: TaughtSample[] = [];
  for (const group of groups) {
    const known = group.samples.map((_, s) => partsOf(game, group, s, tools));
    const fork = commonest(known.flatMap((parts) => parts?.fault ?? []));
    for (const [s, sample] of group.samples.entries()) {
      const parts = known[s];
      const part = parts?.fault ?? fork;
      if (!parts || part === null || !parts.of.includes(part)) continue;
      const marked = marking === 'random' ? new Random(`span/${sample.id}`).int(parts.of.at(-1)! + 1) : part;
      (parts.fault === null ? decisive : faulty).push({
        sample,
        context: tools.encode(parts.teacher(part)),
        weights: parts.of.map((of) => Number(marking === 'whole' || of === marked)),
      });
    }
  }
  return { decisive, faulty };
}

/** The same marks, scaled so that the loss, which is divided by the number of all tokens, becomes a mean over the marked ones. */
export function overMarked(taught: readonly TaughtSample[]): TaughtSample[] {
  const weights = taught.flatMap((one) => one.weights ?? []);
  const marked = weights.reduce((sum, weight) => sum + weight, 0);
  const scale = marked ? weights.length / marked : 0;
  return taught.map((one) => ({ ...one, weights: one.weights!.map((weight) => weight * scale) }));
}
