/** Perfect responses with one fault planted, which nothing is trained on: does the implicit reward fall where the fault is? */
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { LearnTools, Sequence } from '../../core/training-plan.ts';
import { exemplar, parseStyleTask, stylePrompt } from '../../tasks/style/family.ts';
import { damage } from '../../tasks/style/planted.ts';
import { withWordMarked } from '../../tasks/style/word-tokens.ts';

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
 * The implicit reward in units of β, log(π/π_start) a token in nats, mean at the planted faults and elsewhere in the same responses, and
 * by how much it is lower at the faults (`dip`); none where no task has a probe.
 */
export async function probeFigures(
  { score, encode }: Pick<LearnTools, 'score' | 'encode'>,
  tasks: readonly string[],
): Promise<Record<string, number>> {
  const probes = tasks.flatMap((task) => probeOf(task, encode) ?? []);
  if (probes.length === 0) return {};
  const now = await score(MAIN_SET, probes);
  const start = await score(MAIN_SET, probes, 0);
  const ratios = (mark: 0 | 1) =>
    probes.flatMap(({ marks }, i) =>
      marks.flatMap((m, t) => (m === mark ? [now[i]![t]! - start[i]![t]!] : [])),
    );
  const [atFault, elsewhere] = [mean(ratios(1)), mean(ratios(0))];
  return { atFault, elsewhere, dip: elsewhere - atFault };
}
