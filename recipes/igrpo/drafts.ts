/** The rollout stage: drafts of every task, one of which is shown in the prompt of the attempts that are trained on. */
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { exactReward, formatReward, randomReward } from '../../protocols/answer-rewards.ts';
import { paidEarly } from '../../protocols/paid-early.ts';
import { answer, rollOut } from '../../protocols/roll-out.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { aidedPrompt } from '../../worlds/arithmetic/aided.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

/** The role that writes drafts. */
export const DRAFTER = 'drafter';

export const rewards = { exact: exactReward, format: formatReward, random: randomReward };

export const VARIANTS = {
  grpo: 'nobody drafts, and as many attempts are trained on as there would be drafts and attempts',
  'random-draft': 'any well-formed draft is shown, whatever it was paid',
  'worst-draft': 'a draft is shown that was paid least',
} as const;

/** How many of a group's rollouts are drafts. */
export const draftsOf = (groupSize: number): number => Math.floor(groupSize / 2);

/**
 * The index of the draft that is shown; null where none parses. paid [drafts], wellFormed [drafts]. Among equally good drafts the group decides at
 * random.
 */
export function chosenDraft(
  group: string,
  paid: readonly (number | null)[],
  wellFormed: readonly boolean[],
  variant?: string,
): number | null {
  const known = paid.flatMap((reward, i) => (wellFormed[i] && reward !== null ? [{ i, reward }] : []));
  if (known.length === 0) return null;
  const values = known.map(({ reward }) => reward);
  const wanted = variant === 'worst-draft' ? Math.min(...values) : Math.max(...values);
  const equals = variant === 'random-draft' ? known : known.filter(({ reward }) => reward === wanted);
  return new Random(`draft/${group}`).pick(equals).i;
}

export async function draftAndAttempt(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const { variant, groupSize } = round.settings;
  if (variant === 'grpo') return rollOut({ family: arithmetic }, context, tasks);
  const count = draftsOf(groupSize);
  const draftsT = await answer(
    arithmetic,
    context,
    DRAFTER,
    tasks.map(({ group, task }) => ({ group, task, count })),
  );
  const textOf = ({ ids }: Sample) => tokenizer.decode(ids).slice(0, -arithmetic.stop!.length);
  const attempts = await answer(
    arithmetic,
    context,
    SOLVER,
    tasks.map((task, t) => {
      const drafts = draftsT[t]!;
      const paid = paidEarly(arithmetic, rewards, context, task, drafts);
      const wellFormed = drafts.map(({ outcome }) => outcome === 'ok');
      const chosen = chosenDraft(task.group, paid, wellFormed, variant);
      return {
        group: task.group,
        task: task.task,
        count: groupSize - count,
        ...(chosen === null ? {} : { prompt: aidedPrompt(task.task, textOf(drafts[chosen]!)) }),
      };
    }),
  );
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: [...draftsT[t]!, ...attempts[t]!],
  }));
}
