/** RLSP: exact answers are paid, and beside them a little for each check, whatever comes of it. */
import type { Game } from '../../core/game/game.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { readTagsWith } from '../../core/recipe/reading.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { gae } from '../../core/rl/estimators/index.ts';
import { mean, whiten } from '../../core/rl/statistics.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { SOLVER, smallSteps, solverAlone, solverUpdate } from '../../protocols/solver.ts';
import { checkedArithmetic } from '../../worlds/arithmetic/checking.ts';
import { type Search, searchFigures, searchOf } from '../../worlds/arithmetic/search.ts';
import { slippingTask } from '../../worlds/arithmetic/step-slips.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { familyGame } from '../../worlds/family-game.ts';

/** What a check is paid, where an exact answer is paid 1. */
const A_CHECK = { small: 0.03, large: 1 } as const;
const CRITIC = 'critic';
/** Tokens of an answer: five sums three to four times. */
const MAX_TOKENS = 64;
/** Held-out tasks of an evaluation. */
const EXAMINED = 200;

const VARIANTS = {
  'no-bonus': 'checks are not paid: the reward of the answer alone',
  'large-bonus': 'a check is paid 1, as much as an exact answer',
  'random-bonus': 'each answer is paid for the checks of another answer of the round, drawn at random',
} as const;

/** What each of a round's answers is paid for checks. checks [n] -> [n] */
function bonuses({ id, settings: { variant } }: RoundRecords['round'], checks: readonly number[]): number[] {
  if (variant === 'no-bonus') return checks.map(() => 0);
  const paid = variant === 'random-bonus' ? new Random(`${id}/bonuses`).shuffle([...checks]) : checks;
  const each = variant === 'large-bonus' ? A_CHECK.large : A_CHECK.small;
  return paid.map((n) => each * n);
}

/** How often a text searches, and what is reported of a round's answers. */
interface Counting<S> {
  readonly search: (task: string, ids: Sample['ids'], tools: LearnTools) => S & Pick<Search, 'checks'>;
  readonly figures: (
    answers: readonly { task: string; exact: boolean; search: S & Pick<Search, 'checks'> }[],
  ) => Record<string, number>;
}

/** Whole attempts after the first. */
const attempts: Counting<Search> = {
  search: (task, ids, { decode }) => searchOf(task, decode(ids)),
  figures: searchFigures,
};

/** Lines before the last, in worlds where nobody can tell a second attempt from the first. */
const steps = ({ said }: Pick<Game, 'said'>): Counting<Pick<Search, 'checks'>> => ({
  search: (_, ids, tools) => {
    const lines = said(tools.decode(ids), tools).split('\n');
    return { checks: Math.max(0, lines.filter((line) => line.trim() !== '').length - 1) };
  },
  figures: (answers) => (answers.length ? { checks: mean(answers.map(({ search }) => search.checks)) } : {}),
});

async function learn<S>(
  { search, figures }: Counting<S>,
  { round, groups }: RoundRecords,
  tools: LearnTools,
): Promise<TrainingPlan> {
  const answers = groups.flatMap(({ task, samples, answersExact }) =>
    samples.flatMap((sample, i) => {
      const { reward = null } = sample.rewards;
      // A reward that is missing is not a reward of 0: nothing is trained on the answer.
      if (reward === null) return [];
      return {
        task,
        sample,
        reward,
        exact: answersExact[i] === true,
        search: search(task, sample.ids, tools),
      };
    }),
  );
  const samples = answers.map(({ sample }) => sample);
  const bonus = bonuses(
    round,
    answers.map(({ search }) => search.checks),
  );
  const worth = await tools.values(CRITIC, samples);
  const credit = answers.map(({ sample: { ids }, reward }, i) => {
    const last = reward + bonus[i]!;
    const rewards = ids.map((_, t) => (t === ids.length - 1 ? last : 0));
    return gae({ rewards, values: worth[i]! }, { gamma: 1, lambda: 1 });
  });
  const advantages = whiten(credit.flatMap((tokens) => tokens.advantages));
  const items = samples.map((sample) => ({ sample, advantage: advantages.splice(0, sample.ids.length) }));
  const targets = samples.map((sample, i) => ({ ...sample, targets: credit[i]!.returns }));
  return {
    updates: [
      { set: CRITIC, parts: [{ kind: 'value', role: SOLVER, weight: 1, items: targets }] },
      ...solverUpdate(items, ppoClip()),
    ],
    figures: figures(answers),
  };
}

const optimizer = smallSteps({ warmup: 8 });

const described = {
  name: 'rlsp',
  title: 'A bonus for search, apart from the reward for the answer',
  paper: arXiv('2502.06773', 'On the Emergence of Thinking in LLMs I: Searching for the Right Intuition'),
  summary:
    'A solver may do its sums again before it answers. It is paid for exact answers, and a thirtieth of that for each check, whether or not the answer is exact. PPO trains it on the sum of both.',
  method: {
    setting:
      'A solver answers arithmetic chains under a limit of 64 tokens. One step of its start policy in six is a slip, so that longer chains mostly fail, and it checks one answer in four: it does all sums again, and goes on where two attempts disagree.',
    roles: 'The solver is the only role beside a critic and answers each task eight times.',
    rewards:
      'An exact answer earns 1 and any other 0. Beside it, each attempt after the first that does all sums of the task earns 0.03, also where no answer comes before the limit.',
    credit:
      'The sum of both rewards stands on the last token. Generalised advantage estimation with λ = γ = 1 turns it into advantages by a critic with weights of its own; they are whitened over all tokens.',
    objective:
      'PPO: a clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens; the critic regresses the returns. There is no KL term.',
    schedule:
      'The warm start has shown the policy what a search looks like, as supervised fine-tuning does in the paper. Each round updates first the critic and then the policy, in four optimiser steps each.',
  },
  differences: [
    'Search is one behaviour here, doing the sums again, which the warm start demonstrates. In the paper backtracking and verification come about by themselves, where longer texts are paid.',
    'The paper’s simplest bonus is for intermediate steps; here whole attempts are counted, so that a bonus cannot be earned by steps without sums.',
    'How much the paper pays for exploration beside correctness was not checked; 0.03 and 1 are the two amounts compared here.',
    'There is no KL term to the start.',
  ],
  figures: {
    checks: 'Mean number of attempts after the first in an answer.',
    padding: 'Mean number of attempts in an answer after two in a row have agreed.',
    firstExact: 'Share of the answers whose first attempt ends in the exact total.',
    mended: 'Share of the answers that are exact although their first attempt is not.',
    spoiled:
      'Share of the answers that are not exact, or do not come, although their first attempt is exact.',
  },
  variants: VARIANTS,
  sets: { main: { optimizer }, [CRITIC]: { optimizer, head: { kind: 'value' } } },
} satisfies Described;

const written: RecipeOver<'solve'> = {
  needs: { verbs: ['solve'], data: ['answer'] },
  over: (game) => ({
    ...described,
    ...solverAlone({ ...game, draws: 2 }),
    learn: (records, tools) => learn(steps(game), records, tools),
  }),
  elsewhere: {
    summary:
      'A solver is paid for exact answers, and a thirtieth of that for each line before the last, whether or not the answer is exact. PPO trains it on the sum of both.',
    method: {
      rewards:
        'An exact answer earns 1 and any other 0. Beside it, each line of the answer before its last earns 0.03, also where no answer comes before the limit.',
    },
    figures: { checks: 'Mean number of lines before the last in an answer.' },
    differences: [
      'Intermediate steps are lines, the simplest that the paper pays for; nothing tells a step that searches from one that fills a line.',
      ...described.differences.slice(2),
    ],
    variants: {
      'no-bonus': 'lines are not paid: the reward of the answer alone',
      'large-bonus': 'a line is paid 1, as much as an exact answer',
      'random-bonus': 'each answer is paid for the lines of another answer of the round, drawn at random',
    },
  },
};

const checked = familyGame(checkedArithmetic, {
  maxNew: MAX_TOKENS,
  tasks: (context, count) => drawnTasks(context, slippingTask, count),
  tests: (asked) => checkedArithmetic.heldOut({ ...asked, most: Math.min(asked.most, EXAMINED) }),
});

export const rlsp = played(written, checked, {
  learn: (records, tools) => learn(attempts, records, tools),
  describe: {
    difficulty: checkedArithmetic.difficulty,
    // The mark between two attempts says nothing of a step.
    parts: (_, text) =>
      readTagsWith(text, (part) => (part.kind === 'mark' ? [{ kind: 'text', text: 'again' }] : [part])),
  },
});
