/**
 * The rollout stage: attempts at every task and, where all of a task’s attempts fail, hints of growing levels with attempts after each, until an
 * attempt is paid.
 */
import { Random } from '../../core/random.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { exactReward, formatReward, payAnswers, randomReward } from '../../protocols/answer-rewards.ts';
import { paidEarly } from '../../protocols/paid-early.ts';
import { answer, rollOut, rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { rewardNamed, SOLVER } from '../../protocols/solver.ts';
import {
  aidedPrompt,
  HINT_LEVELS,
  type HintLevel,
  hintPrompt,
  parseHint,
} from '../../worlds/arithmetic/aided.ts';
import { freshTask } from '../../worlds/arithmetic/demonstrations.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

/** The role that writes hints from a reference solution. */
export const HINTER = 'hinter';

export const rewards = { exact: exactReward, format: formatReward, random: randomReward };

export const VARIANTS = {
  grpo: 'nobody gives hints',
  'start-hints': 'hints are written by version 0',
  'random-hints': 'a hint is written from the reference of another task of as many sums',
} as const;

/** The task whose reference solution the hinter of a group is shown. */
const hintedTask = ({ group, task }: AdmittedTask, variant: string | undefined): string =>
  variant === 'random-hints' ? freshTask(new Random(`hint/${group}`), arithmetic.difficulty(task)) : task;

/** Whether no attempt was paid anything. */
const allFailed = (paid: readonly (number | null)[]): boolean => paid.every((reward) => reward === 0);

/** A group while it is made, and whether it still needs a hint. */
interface Group {
  readonly task: AdmittedTask;
  readonly samples: readonly Sample[];
  readonly open: boolean;
}

/** One level: a hint for every group that needs one, and attempts after the hints that parse. */
async function hintAt(context: RoundContext, groups: readonly Group[], level: HintLevel): Promise<Group[]> {
  const { tokenizer, round } = context;
  const { variant, groupSize } = round.settings;
  const open = groups.filter((group) => group.open);
  const hints = await samplePrompts(
    context,
    HINTER,
    open.map(({ task }) => {
      const shown = hintedTask(task, variant);
      return {
        prompt: hintPrompt(shown, level),
        sampleIds: rolloutIds(task.group, HINTER, 1, level),
        parse: (text) => parseHint(shown, text),
      };
    }),
  );
  const hinted = open.map((group, o) => ({ ...group, samples: [...group.samples, ...hints[o]!] }));
  const read = hinted.filter((_, o) => hints[o]![0]!.outcome === 'ok');
  const attempts = await answer(
    arithmetic,
    context,
    SOLVER,
    read.map(({ task, samples }) => ({
      group: task.group,
      task: task.task,
      prompt: aidedPrompt(
        task.task,
        tokenizer.decode(samples.at(-1)!.ids).slice(0, -arithmetic.stop!.length),
      ),
      count: groupSize,
      from: level * groupSize,
    })),
  );
  const after = new Map(
    hinted.map((group): [string, Group] => {
      const at = read.indexOf(group);
      if (at < 0) return [group.task.group, group];
      const mine = attempts[at]!;
      return [
        group.task.group,
        {
          ...group,
          samples: [...group.samples, ...mine],
          open: allFailed(paidEarly(arithmetic, rewards, context, group.task, mine)),
        },
      ];
    }),
  );
  return groups.map((group) => after.get(group.task.group) ?? group);
}

export async function attemptWithHints(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<RolloutGroup[]> {
  const { round } = context;
  const plain = await rollOut({ family: arithmetic }, context, tasks);
  if (round.settings.variant === 'grpo') return plain;
  let groups = plain.map(
    ({ samples }, t): Group => ({
      task: tasks[t]!,
      samples,
      open: allFailed(paidEarly(arithmetic, rewards, context, tasks[t]!, samples)),
    }),
  );
  for (const level of HINT_LEVELS) groups = await hintAt(context, groups, level);
  return groups.map(({ task, samples }) => ({ round: round.id, ...task, samples: [...samples] }));
}

/** Attempts are paid; hints have no reward of their own. */
export async function payAttempts(
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const reward = rewardNamed(rewards, context.round.settings.rewardFunction);
  return groups.map((group) => {
    const paid = payAnswers(arithmetic, reward, context, group);
    return {
      ...paid,
      samples: paid.samples.map((sample) => (sample.role === HINTER ? { ...sample, rewards: {} } : sample)),
    };
  });
}

/** The attempts that are trained on: those after the last prompt that was tried. They replace the failed ones before them. */
export function trainedAttempts(group: ScoredGroup): ScoredGroup {
  const attempts = group.samples.filter(({ role }) => role === SOLVER);
  const last = attempts.at(-1)?.prompt.join();
  return { ...group, samples: attempts.filter(({ prompt }) => prompt.join() === last) };
}

/** The number of hints that were asked for. */
export const hintsOf = ({ samples }: Pick<ScoredGroup, 'samples'>): number =>
  samples.filter(({ role }) => role === HINTER).length;
