/**
 * A script that writes checks exists only for sums. Elsewhere the verifier is trained on its own verdicts: those that agree with the checker, with the
 * reasons that precede them. The variant `direct` trains on the verdict's word alone.
 */
import type { LearnTools, RoundRecords, Sequence, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { balancedPick } from '../../core/rl/selection/index.ts';
import { sftPart } from '../../protocols/objectives.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';

/** The weight of the solver's right answers beside the verifier's checks, as in the recipe. */
const SOLVING = 0.3;

interface Taught extends Sequence {
  /** Whether the checker accepts the answer that is judged. */
  readonly right: boolean;
}

/** The verdicts that agree with the checker, as they were written. */
const ownVerdicts = ({ groups }: Pick<RoundRecords, 'groups'>): Taught[] =>
  groups.flatMap(({ samples, judgments }) =>
    judgments.flatMap(({ of, prompt, ids, rewards }): Taught[] => {
      const judged = samples.find(({ id }) => id === of);
      return judged && rewards.agreement === 1 ? [{ prompt, ids, right: judged.rewards.reward === 1 }] : [];
    }),
  );

/** The right word alone after the prompt of every verdict, whatever the verifier wrote. */
const bareVerdicts = (
  { groups }: Pick<RoundRecords, 'groups'>,
  { encode, renderer }: Pick<LearnTools, 'encode' | 'renderer'>,
): Taught[] => {
  const [end] = renderer().stops;
  return groups.flatMap(({ samples, judgments }) =>
    judgments.flatMap(({ of, prompt }): Taught[] => {
      const judged = samples.find(({ id }) => id === of);
      if (!judged || end === undefined) return [];
      const right = judged.rewards.reward === 1;
      return [{ prompt, ids: [...encode(`<answer>${right ? 'yes' : 'no'}</answer>`), end], right }];
    }),
  );
};

/** As many verdicts on right answers as on wrong ones: all of the rarer kind, and a random choice of as many of the other. */
function balanced(items: readonly Taught[], random: Random): Sequence[] {
  const labels = items.map(({ right }) => right);
  const rights = labels.filter(Boolean).length;
  return balancedPick(labels, 2 * Math.min(rights, labels.length - rights), random).map((i) => {
    const { prompt, ids } = items[i]!;
    return { prompt, ids };
  });
}

export function planVerifier(records: RoundRecords, tools: LearnTools): TrainingPlan {
  const { round, groups } = records;
  const all = round.settings.variant === 'direct' ? bareVerdicts(records, tools) : ownVerdicts(records);
  const taught = balanced(all, new Random(`${round.id}/verifier`));
  const solved = groups.flatMap(({ samples }) =>
    samples.flatMap(({ prompt, ids, rewards }) => (rewards.reward === 1 ? [{ prompt, ids }] : [])),
  );
  const parts = [sftPart(JUDGE, taught), sftPart(SOLVER, solved, SOLVING)];
  // Without verdicts on both kinds of answers nothing can be learned about telling them apart.
  return {
    updates: taught.length ? [{ set: 'main', parts }] : [],
    figures: { taught: taught.length, agreeing: all.length },
  };
}
