/** Perfect responses with one fault planted, which nothing is trained on: does the implicit reward fall where the fault is? */
import type { LearnTools, Sequence } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { exemplar, parseStyleTask, stylePrompt } from '../../worlds/style/family.ts';
import { damage } from '../../worlds/style/planted.ts';
import { withWordMarked } from '../../worlds/style/word-tokens.ts';

export interface Probe extends Sequence {
  /** 1 on the tokens of the word that stands there a second time, 0 elsewhere [ids]. */
  readonly marks: readonly number[];
}

/** A perfect response to a task with an earlier word again in place of a later one; null where the text is no task. */
export function probeOf(task: string, encode: LearnTools['encode']): Probe | null {
  const parsed = parseStyleTask(task);
  if (!parsed.ok) return null;
  const planted = damage(exemplar(new Random(`probe/${task}`), parsed.value), task);
  return (
    planted && { prompt: encode(stylePrompt(task)), ...withWordMarked(planted.damaged, planted.at, encode) }
  );
}

/**
 * The implicit reward in units of β, log(π/π_start) a token in nats: its means at the planted faults, at their first tokens, by which the other tokens of
 * the word are all but given, and elsewhere in the same responses; and by how much it is lower at the faults (`dip`) and at their first tokens (`firstDip`).
 * None where no task has a probe.
 */
export async function probeFigures(
  { score, encode }: Pick<LearnTools, 'score' | 'encode'>,
  tasks: readonly string[],
): Promise<Record<string, number>> {
  const probes = tasks.flatMap((task) => probeOf(task, encode) ?? []);
  if (probes.length === 0) return {};
  const now = await score(MAIN_SET, probes);
  const start = await score(MAIN_SET, probes, 0);
  const ratios = (chosen: (marks: Probe['marks'], t: number) => boolean) =>
    mean(
      probes.flatMap(({ marks }, i) =>
        marks.flatMap((_, t) => (chosen(marks, t) ? [now[i]![t]! - start[i]![t]!] : [])),
      ),
    );
  const atFault = ratios((marks, t) => marks[t] === 1);
  const elsewhere = ratios((marks, t) => marks[t] === 0);
  const first = ratios((marks, t) => t === marks.indexOf(1));
  return { atFault, elsewhere, dip: elsewhere - atFault, firstDip: elsewhere - first };
}
