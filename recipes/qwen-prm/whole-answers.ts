/**
 * Questions of files, whose solutions have no marks for steps: a classifier of whole solutions, trained on those on which the judge and the checker
 * agree.
 */
import type { LearnTools, RoundRecords, Sequence, TrainingPlan } from '../../core/plan/training-plan.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { bestOf } from '../../protocols/evaluate/best-of-n.ts';
import { updateOf } from '../../protocols/objectives.ts';

/** The name of the classifier, and of its parameter set where the policy has one of its own. */
export const PRM_SET = 'prm';
/** The class of what is right, a solution or a line. */
export const RIGHT = 1;

export const WHOLE_VARIANTS = {
  checker: 'labels by the checker alone; every solution is kept',
  judge: 'labels by the judge alone; every solution is kept whose judgment parses',
} as const;

interface Labelled extends Sequence {
  /** What the checker says, or what stands in its place in a control. */
  readonly checked: boolean;
  /** What the judge says; null where its judgment does not parse. */
  readonly judged: boolean | null;
}

const labelled = ({ samples, judgments }: Pick<ScoredGroup, 'samples' | 'judgments'>): Labelled[] =>
  samples.flatMap(({ id, prompt, ids, outcome, rewards }) => {
    if (outcome !== 'ok') return [];
    const checked = rewards.reward === 1;
    const verdict = judgments.find(({ of }) => of === id);
    const judged = verdict?.outcome === 'ok' ? (verdict.rewards.agreement === 1) === checked : null;
    return [{ prompt, ids, checked, judged }];
  });

/** The label that a variant uses; null where the solution is not kept. */
export function wholeLabel(
  variant: string | undefined,
  { checked, judged }: Pick<Labelled, 'checked' | 'judged'>,
): boolean | null {
  if (variant === 'checker') return checked;
  if (variant === 'judge') return judged;
  return judged === checked ? checked : null;
}

/** The classifier is asked about the round's solutions before it is trained on them. */
export async function learnWhole(
  { round, groups }: RoundRecords,
  { classes }: Pick<LearnTools, 'classes'>,
): Promise<TrainingPlan> {
  const itemsG = groups.map(labelled);
  const items = itemsG.flat();
  if (items.length === 0) return { updates: [] };
  const taught = items.flatMap((item) => {
    const label = wholeLabel(round.settings.variant, item);
    return label === null ? [] : [{ prompt: item.prompt, ids: item.ids, label: Number(label) }];
  });
  const asked = items.map(({ prompt, ids }) => ({ prompt, ids }));
  const rights = (await classes(PRM_SET, asked)).map((row) => Math.exp(row[RIGHT]!));
  return {
    updates: updateOf([{ kind: 'classification', role: PRM_SET, weight: 1, items: taught }], {}, PRM_SET),
    figures: {
      kept: taught.length / items.length,
      bestOfGroup: bestOf(
        itemsG.map((of) => ({ exact: of.map(({ checked }) => checked) })),
        itemsG.map((of) => rights.splice(0, of.length)),
      ),
      oneOfGroup: mean(items.map(({ checked }) => Number(checked))),
    },
  };
}
