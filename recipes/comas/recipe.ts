/** CoMAS: agents that solve, criticise and score are paid by each other, without labels. */

import type { Game } from '../../core/game/game.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { reinforcePlusPlus } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Maybe } from '../../core/rl/types.ts';
import { evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { type AnswerReward, CONTROLS, exactReward } from '../../protocols/answer-rewards.ts';
import { ask, type Question } from '../../protocols/ask-about-samples.ts';
import {
  debate,
  debatesIn,
  PARTNER,
  payDebates,
  type Scored,
  type Turns,
  TWO_AGENTS,
} from '../../protocols/debate.ts';
import { evaluateSolver } from '../../protocols/evaluate/solver.ts';
import { besideOracle } from '../../protocols/gold.ts';
import { ppoClip } from '../../protocols/objectives.ts';
import { ofFamily, policyPart, rewardNamed, SOLVER } from '../../protocols/solver.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';

/** The two agents by what they do; each has weights of its own. */
const AGENTS = [
  { set: MAIN_SET, solver: SOLVER, critic: 'critic', scorer: 'scorer' },
  { set: PARTNER, solver: PARTNER, critic: 'partner-critic', scorer: 'partner-scorer' },
] as const;
const CRITICS = AGENTS.map(({ critic }) => critic);

/** Solutions in a discussion, each with its critique. */
const SOLUTIONS = 2;
/** Weight of the KL divergence to version 0 in each token's reward. */
const BETA = 0.01;

const VARIANTS = {
  'no-critique': 'nobody criticises solutions; they are scored as they are',
  'critic-scores': 'whoever criticised a solution scores it, too',
} as const;

/** Who solves the i-th time, and who scores that; the other one criticises. Drawn by the discussion. */
function seatsOf(group: string, discussion: number, solution: number, variant?: string) {
  const random = new Random(`comas/${group}/${discussion}/${solution}`);
  const solves = random.int(2);
  const scores = random.int(2);
  return {
    solver: AGENTS[solves]!.solver,
    critic: AGENTS[1 - solves]!.critic,
    scorer: AGENTS[variant === 'critic-scores' ? 1 - solves : scores]!.scorer,
  };
}

const turnsOf =
  (variant: string | undefined) =>
  (group: string, discussion: number): Turns =>
    Array.from({ length: SOLUTIONS }, (_, s) => seatsOf(group, discussion, s, variant)).flatMap(
      ({ solver, critic }) => [
        [{ role: solver }],
        ...(variant === 'no-critique' ? [] : [[{ role: critic, reviews: true as const }]]),
      ],
    );

/** A solution is paid its score, and a critique what the solution before it is not paid; [turns][seats], null where nobody could read the score. */
export const zeroSum = (said: readonly (readonly Scored[])[]): Maybe[][] =>
  said.map((turn, t) =>
    turn.map(({ score, reviews }) => {
      if (!reviews) return score;
      const criticised = said[t - 1]?.[0]?.score ?? null;
      return criticised === null ? null : 1 - criticised;
    }),
  );

const unpaid: AnswerReward = {
  description:
    'what a scorer says of a solution; critiques get the rest, and scorers lose 1 by what cannot be read',
  usesGold: false,
  labelFree: true,
  pay: ({ group }) => group.samples.map(() => null),
};

const rewards: Readonly<Record<string, AnswerReward>> = {
  peers: unpaid,
  gold: { ...exactReward, description: '1 for an exact solution, by the checker in place of a scorer' },
  ...CONTROLS,
};

type ComasGame = Game<'solve' | 'debate' | 'review' | 'score'>;

/** Scores of all solutions of some groups [groups][solutions], as judgments with what they say. */
async function scored(game: ComasGame, context: RoundContext, groups: readonly RolloutGroup[]) {
  const { variant } = context.round.settings;
  const said = ({ ids }: Sample) => game.said(context.tokenizer.decode(ids), context);
  const asked = groups.flatMap((group, g) =>
    debatesIn(group.samples).flatMap((turns) => {
      const solutions = turns.flatMap((turn, t) =>
        turn.flatMap((sample) => (CRITICS.some((critic) => critic === sample.role) ? [] : [{ sample, t }])),
      );
      return solutions.map(({ sample, t }, s) => {
        const next = variant === 'no-critique' ? undefined : turns[t + 1]?.[0];
        const about = { task: group.task, response: said(sample), review: next ? said(next) : '' };
        const question: Question<number> = {
          of: sample.id,
          prompt: game.words.score.ask(about, context),
          parse: (text) => game.words.score.read(text, about, context),
        };
        return { g, role: seatsOf(group.group, sample.episode ?? 0, s, variant).scorer, question };
      });
    }),
  );
  const judgments: { sample: Sample; score: Maybe }[][] = groups.map(() => []);
  for (const { scorer } of AGENTS) {
    const own = asked.filter(({ role }) => role === scorer);
    const answers = await ask(
      context,
      scorer,
      own.map(({ question }) => question),
      1,
    );
    for (const [i, [answer]] of answers.entries()) {
      const { sample, parsed } = answer!;
      judgments[own[i]!.g]!.push({
        // A score that can be read is worth nothing to its scorer, whatever it says.
        sample: { ...sample, rewards: { reward: parsed.ok ? 0 : -1 } },
        score: parsed.ok ? parsed.value : null,
      });
    }
  }
  return judgments;
}

async function judge(
  game: ComasGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
): Promise<ScoredGroup[]> {
  const { rewardFunction } = context.round.settings;
  const reward = rewardNamed(rewards, rewardFunction);
  const isByPeers = reward === unpaid;
  const judgmentsG = isByPeers ? await scored(game, context, groups) : groups.map(() => []);
  return groups.map((group, g) => {
    const scores = new Map(judgmentsG[g]!.map(({ sample, score }) => [sample.of!, score]));
    const byPeers: AnswerReward = {
      ...unpaid,
      pay: ({ group: answers }) => answers.samples.map(({ id }) => scores.get(id) ?? null),
    };
    const paid = payDebates(game.family, isByPeers ? byPeers : reward, context, group, zeroSum, CRITICS);
    const exact = new Map(paid.samples.map(({ id }, i) => [id, paid.answersExact[i]!]));
    return {
      ...paid,
      judgments: judgmentsG[g]!.map(({ sample, score }) => ({
        ...sample,
        ...besideOracle(exact.get(sample.of!) ?? null, score === null || score === 0.5 ? null : score > 0.5),
      })),
    };
  });
}

async function learn({ groups }: RoundRecords, { score }: LearnTools): Promise<TrainingPlan> {
  const samples = groups.flatMap((group) => [...group.samples, ...group.judgments]);
  const updates: TrainingPlan['updates'][number][] = [];
  for (const { set, ...roles } of AGENTS) {
    const names: readonly string[] = Object.values(roles);
    const own = samples.filter(
      ({ role, rewards: paid }) => names.includes(role) && typeof paid.reward === 'number',
    );
    if (own.length === 0) continue;
    const start = await score(set, own, 0);
    const advantages = reinforcePlusPlus(
      own.map(({ logprobs, rewards: paid }, i) => ({
        reward: paid.reward!,
        mask: logprobs.map(() => 1),
        kl: logprobs.map((logprob, t) => logprob - start[i]![t]!),
      })),
      { klCoefficient: BETA },
    );
    const items = own.map((sample, i) => ({ sample, advantage: advantages[i]! }));
    updates.push({
      set,
      parts: names.flatMap((role) => {
        const of = items.filter(({ sample }) => sample.role === role);
        return of.length ? [policyPart(role, of, ppoClip())] : [];
      }),
    });
  }
  const paidOf = (test: (sample: Sample) => boolean) =>
    groups.flatMap((group) => group.samples.filter(test).flatMap(({ rewards: { reward } }) => reward ?? []));
  const solutions = paidOf(({ role }) => !CRITICS.some((critic) => critic === role));
  const judgments = groups.flatMap((group) => group.judgments);
  return {
    updates,
    figures: {
      ...(solutions.length ? { solutionReward: mean(solutions) } : {}),
      ...(judgments.length
        ? { readable: mean(judgments.map(({ outcome }) => Number(outcome === 'ok'))) }
        : {}),
    },
  };
}

const described = {
  name: 'comas',
  title: 'Agents that solve, criticise and score, paid by each other',
  paper: arXiv('2510.08529', 'CoMAS: Co-Evolving Multi-Agent Systems via Interaction Rewards'),
  summary:
    'Two agents discuss a question without labels. One solves it, the other criticises the solution, and one of them scores it: the solution is paid the score and the critique what is left of 1.',
  method: {
    setting:
      'Two agents answer arithmetic chains. Both start as copies of one policy, which slips the more the longer a chain is and was taught to read one other solution beside a chain. A critic writes the solution that it thinks right, and a scorer solves the chain, too: a solution is right if it agrees with the scorer’s, and wrong if the critic’s does.',
    roles:
      'In a discussion an agent drawn at random solves the task, the other criticises the solution, and then once more, with solution and critique in sight. Each solution is scored by one of the two, drawn at random. Four discussions are held of each task.',
    rewards:
      'A scorer says 1, 2 or 3. The solution is paid r = (τ − 1)/2 and its critique 1 − r; a scorer is paid 0, or −1 where its text cannot be read, which leaves solution and critique unpaid.',
    credit:
      'The reward, less 0.01 times the log-ratio to version 0 of a token and those after it, is whitened over all tokens of an agent in the batch (REINFORCE++).',
    objective:
      'For each agent a clipped policy gradient on all that it wrote, ratios in [0.8, 1.2] and a mean over tokens.',
    schedule: 'Each round updates both agents, once over its batch.',
  },
  differences: [
    'Two agents, which start as copies; the paper also has more of them, from different models. Two solutions in a discussion, where the paper has two for each agent, and one critique each.',
    'Whoever solves again is shown the last solution with its critique, in the paper those of the last two rounds.',
    'The weight of the KL divergence could not be checked. An agent is trained on each round at once, without a buffer.',
  ],
  figures: {
    solutionReward: 'Mean reward of the solutions; critiques get what is left of 1.',
    readable: 'Share of the scores that can be read.',
  },
  variants: VARIANTS,
  sets: TWO_AGENTS,
} satisfies Described;

const written: RecipeOver<'solve' | 'debate' | 'review' | 'score'> = {
  // The answers are read by a control and the evaluation alone.
  needs: { verbs: ['solve', 'debate', 'review', 'score'], data: ['answer'] },
  over: (game) => {
    const { family, words } = game;
    const role = (description: string, verb: 'solve' | 'review' | 'score', set: string) => ({
      description,
      speaksAs: SOLVER,
      ...(set === MAIN_SET ? {} : { set }),
      sampling: { maxNew: words[verb].maxNew, temperature: 1 },
    });
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: Object.fromEntries(
        AGENTS.flatMap(({ set, solver, critic, scorer }) => [
          [solver, role('solves tasks', 'solve', set)],
          [critic, role('criticises the other’s solutions', 'review', set)],
          [scorer, role('scores solutions', 'score', set)],
        ]),
      ),
      freezable: AGENTS.flatMap(({ solver, critic, scorer }) => [solver, critic, scorer]),
      propose: async (context) => game.tasks(context),
      rollOut: (context, tasks) => debate(game, context, tasks, turnsOf(context.round.settings.variant)),
      judge: (context, groups) => judge(game, context, groups),
      learn,
      evaluate: async (context) =>
        evaluation(
          await evaluateSolver(context, {
            family,
            role: SOLVER,
            temperature: 1,
            tasks: game.tests(context.evaluationTasks),
          }),
        ),
    };
  },
  ownReward: 'the agents pay each other',
};

export const comas = played(written, aidedSums);
