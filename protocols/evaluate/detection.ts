/** What a verifier of steps finds of flaws of kinds that nobody trained it on by name, on held-out chains. */
import { Random } from '../../core/random.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { plainProofs } from '../../worlds/chains/analysis.ts';
import { chainWith, flawed, UNSEEN } from '../../worlds/chains/slips.ts';
import { JUDGE } from '../solver-verifier.ts';
import { asked } from './asked.ts';

const KINDS = ['right', ...UNSEEN] as const;
type Kind = (typeof KINDS)[number];

interface Examined {
  readonly task: string;
  readonly kind: Kind;
  readonly solution: Solution;
}

/** Of each task the right solution and one with a wrong line of each kind. */
export const examined = (tasks: readonly string[]): Examined[] =>
  tasks.flatMap((task) =>
    KINDS.map((kind) => ({
      task,
      kind,
      solution:
        kind === 'right' ? chainWith(task) : flawed(new Random(`examined/${kind}/${task}`), kind, task),
    })),
  );

/** What the figures of a verifier that detects flaws mean. */
export const DETECTION_FIGURES = {
  found:
    'Share of held-out solutions with one planted wrong line that a sampled verdict rejects, mean over three kinds of errors that nobody trained on by name.',
  accepted: 'Share of right held-out solutions that a sampled verdict accepts.',
  carry: 'Share found of wrong lines that are ten off.',
  sign: 'Share found of wrong lines that add where the task subtracts, or the other way round.',
  copy: 'Share found of wrong lines that take the operand of another line.',
} as const;

/** What each task gives to the balanced share: its right solution counts as much as all its flawed ones. `hits`: [tasks × KINDS]. */
export function balancedTally(hits: readonly boolean[]) {
  const points = Array.from({ length: hits.length / KINDS.length }, (_, task) => {
    const [right, ...flaws] = hits.slice(task * KINDS.length, (task + 1) * KINDS.length);
    return UNSEEN.length * Number(right) + flaws.filter(Boolean).length;
  });
  return tallyOf(points, 2 * UNSEEN.length);
}

/** How often right solutions are accepted, and how often flaws of each kind are found; a verdict that does not parse does neither. */
export async function detection(context: EvaluationContext, temperature: number) {
  const items = examined(plainProofs.heldOut(context.evaluationTasks));
  const said = await asked(context, JUDGE, items, {
    prompt: ({ task, solution }) => plainProofs.judgePrompt(task, solution),
    key: ({ task, kind }) => ['verdict', String(temperature), task, kind],
    temperature,
  });
  const hits = items.map(({ solution, kind }, i) => {
    const { text, stopped } = said[i]![0]!;
    const verdict = plainProofs.parseJudgment(solution, text);
    const parses = stopped && verdict.ok;
    return { kind, parses, hit: parses && verdict.value.right === (kind === 'right') };
  });
  const of = (kind: Kind) => mean(hits.filter((item) => item.kind === kind).map(({ hit }) => Number(hit)));
  const found = mean(UNSEEN.map(of));
  return {
    of,
    found,
    balanced: (of('right') + found) / 2,
    tally: balancedTally(hits.map(({ hit }) => hit)),
    formatRate: mean(hits.map(({ parses }) => Number(parses))),
  };
}

/** The evaluation of such a verifier, with the recipe's own figures. */
export async function detected(
  context: EvaluationContext,
  examine: () => Promise<Readonly<Record<string, number>>>,
): Promise<Evaluation> {
  const greedy = await detection(context, 0);
  const sampled = await detection(context, 1);
  return evaluation(
    {
      n: plainProofs.heldOut(context.evaluationTasks).length,
      accuracy: greedy.balanced,
      sampled: sampled.balanced,
      formatRate: greedy.formatRate,
      tallies: { accuracy: greedy.tally, sampled: sampled.tally, judge: greedy.tally },
    },
    {
      found: sampled.found,
      accepted: sampled.of('right'),
      ...Object.fromEntries(UNSEEN.map((kind) => [kind, sampled.of(kind)])),
      ...(await examine()),
    },
    { fixed: greedy.balanced },
  );
}
