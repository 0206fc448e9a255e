/** Agentic self-learning: one policy writes questions, answers them and judges the answers, in turns. */
import * as v from 'valibot';
import type { Game } from '../../core/game/game.ts';
import type { RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type Described, played, type RecipeOver } from '../../core/recipe/recipe.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import { type RewardInfo, role } from '../../core/recipe/role.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import { classBalanced, grpo, taskRelative } from '../../core/rl/estimators/index.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { Maybe } from '../../core/rl/types.ts';
import { admit } from '../../core/round/admit.ts';
import { inPhases } from '../../core/round/in-phases.ts';
import { phaseAt, type Schedule } from '../../core/round/phases.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import { finite } from '../../core/schema/numbers.ts';
import type { Proposals, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { evaluateVerifier, VERIFIER_FIGURES } from '../../protocols/evaluate/verifier.ts';
import { besideOracle, coinOf, sealedGold } from '../../protocols/gold.ts';
import { passed, writeTasks } from '../../protocols/proposals.ts';
import { rollOut } from '../../protocols/roll-out.ts';
import {
  creditedItems,
  groupItems,
  ofFamily,
  policyUpdate,
  rewardNamed,
  rewardOf,
  SOLVER,
  trainedSolver,
} from '../../protocols/solver.ts';
import { JUDGE } from '../../protocols/solver-verifier.ts';
import { parseGroup, verify } from '../../protocols/verify.ts';
import { evolvingSums } from '../../worlds/toy-worlds.ts';

const GENERATOR = 'generator';
type Phase = 'generate' | 'judge' | 'solve';
const SCHEDULE: Schedule<Phase> = {
  cycle: [
    { phase: 'generate', rounds: 1 },
    { phase: 'judge', rounds: 1 },
    { phase: 'solve', rounds: 2 },
  ],
};
/** Verdicts on each answer, whose majority is the label in the judge's rounds; one pays the others. */
const VOTES = 4;
/** From this round on the reward `late-gold` labels a share of the answers by the checker. */
const LATE = 9;
const GOLD_SHARE = 0.02;
/** The most questions that are kept from round to round. */
const KEPT = 120;
const VOTED = { voted: 200, answers: 4 };

const VARIANTS = {
  frozen: 'nothing is trained on the judge’s verdicts',
} as const;

/** Questions that the policy wrote, with the share of its answers that were paid the last time. */
const pool = v.object({ questions: v.array(v.object({ task: v.string(), rate: finite })) });
type Pool = v.InferOutput<typeof pool>['questions'];
const poolOf = (recipeState: unknown): Pool => readState(pool, recipeState)?.questions ?? [];

type AslGame = Game<'solve' | 'verify' | 'evolve'>;
const phaseOf = ({ index }: { readonly index: number }): Phase => phaseAt(SCHEDULE, index).phase;

interface Evidence {
  /** What most verdicts say; null where none can be read or as many say the one as the other. */
  readonly verdict: boolean | null;
  readonly isWellFormed: boolean;
  readonly coin: boolean;
  /** Does the checker decide about this one? */
  readonly late: boolean;
  /** By the checker; null where it does not know. Throws for a reward that is declared gold-free. */
  readonly exact: () => boolean | null;
}

interface AslReward extends RewardInfo {
  /** Is the answer right, for the solver's reward and as the label of the judge? null = not known. */
  readonly right: (evidence: Evidence) => boolean | null;
}

const rewards: Readonly<Record<string, AslReward>> = {
  verdicts: {
    description: 'the judge’s verdict pays answers, and the majority of its verdicts is its own label',
    usesGold: false,
    labelFree: true,
    right: ({ isWellFormed, verdict }) => (isWellFormed ? verdict : false),
  },
  gold: {
    description:
      'upper bound: the checker pays and labels answers; the judge’s verdict does where it does not know',
    usesGold: true,
    right: ({ isWellFormed, verdict, exact }) => exact() ?? (isWellFormed ? verdict : false),
  },
  'late-gold': {
    description: `as verdicts, and from round ${LATE} on the checker labels 2 % of the answers that it can judge`,
    usesGold: true,
    right: ({ isWellFormed, verdict, late, exact }) => {
      const known = late ? exact() : null;
      return known ?? (isWellFormed ? verdict : false);
    },
  },
  format: {
    description: 'control: any well-formed answer is right',
    usesGold: false,
    right: ({ isWellFormed }) => isWellFormed,
  },
  random: {
    description: 'control: a fair coin says what is right',
    usesGold: false,
    right: ({ coin }) => coin,
  },
};

/** The majority of some verdicts; null where there is none. */
export function majorityOf(verdicts: readonly (boolean | null)[]): boolean | null {
  const [yes, no] = [true, false].map((wanted) => verdicts.filter((verdict) => verdict === wanted).length);
  return yes === no ? null : yes! > no!;
}

/** H = −Σ p ln p of the shares of right and wrong answers, nats; at most ln 2. Null where no answer has a verdict. */
export function verdictEntropy(right: readonly Maybe[]): Maybe {
  const known = right.filter((value) => value !== null);
  if (known.length === 0) return null;
  const p = mean(known);
  return [p, 1 - p].reduce((sum, share) => (share > 0 ? sum - share * Math.log(share) : sum), 0);
}

/** Given questions and questions of the pool, half of each as far as there are any. */
async function mixed(game: AslGame, context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const own = new Random(`${round.id}/pool`)
    .shuffle(poolOf(await context.recipeState()))
    .slice(0, Math.floor(round.settings.tasks / 2));
  const given = await game.tasks(context, round.settings.tasks - own.length);
  return {
    ...given,
    tasks: admit(
      round,
      [...given.tasks.map(({ task }) => task), ...own.map(({ task }) => task)].map((task) => ({
        task,
        proposal: null,
      })),
    ),
  };
}

/** New questions: harder ones than those that are mostly answered, and easier ones than the others. */
async function generate(game: AslGame, context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const known = new Random(`${round.id}/pool`)
    .shuffle(poolOf(await context.recipeState()))
    .slice(0, round.settings.tasks);
  const given = await game.tasks(context, round.settings.tasks - known.length);
  const sources = [
    ...known.map(({ task, rate }) => ({
      task,
      way: rate >= 0.5 ? ('deeper' as const) : ('easier' as const),
    })),
    ...given.tasks.map(({ task }) => ({ task, way: 'broader' as const })),
  ];
  const proposed = await writeTasks(
    game,
    context,
    GENERATOR,
    'evolve',
    sources.map((on, i) => ({ on, sampleIds: [proposalId(round.id, GENERATOR, i)] })),
  );
  return {
    ...given,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, passed(proposed)),
  };
}

/** Verdicts on the answers of some groups, and what they are paid. */
async function judge(
  game: AslGame,
  context: RoundContext,
  groups: readonly RolloutGroup[],
  votes: number,
): Promise<ScoredGroup[]> {
  const { round } = context;
  const { right } = rewardNamed(rewards, round.settings.rewardFunction);
  const family = rendered(game.family, context);
  const solutionsGS = groups.map((group) => parseGroup(game.family, context, group));
  const verdictsGS = await verify(context, groups, solutionsGS, { family: game.family, role: JUDGE, votes });
  return groups.map((group, g) => {
    const solutions = solutionsGS[g]!;
    const isKnown = !family.isUnlabelled?.(group.task);
    const answersExact = solutions.map((solution) =>
      solution.ok && isKnown ? family.answerIsExact(group.task, solution.value) : null,
    );
    const labels = group.samples.map(({ id }, s) =>
      right({
        verdict: majorityOf(verdictsGS[g]![s]!.map(({ parsed }) => (parsed.ok ? parsed.value.right : null))),
        isWellFormed: solutions[s]!.ok,
        coin: coinOf(id),
        late: round.index >= LATE && new Random(`gold/${id}`).float() < GOLD_SHARE,
        exact: sealedGold(context, answersExact[s]!),
      }),
    );
    return {
      ...group,
      samples: group.samples.map((sample, s) => ({
        ...sample,
        rewards: { reward: labels[s] === null ? null : Number(labels[s]) },
      })),
      judgments: verdictsGS[g]!.flatMap((verdicts, s) =>
        verdicts.map(({ sample, parsed }) => ({
          ...sample,
          rewards: {
            agreement: labels[s] === null ? null : Number(parsed.ok && parsed.value.right === labels[s]),
          },
          ...besideOracle(answersExact[s]!, parsed.ok ? parsed.value.right : null),
        })),
      ),
      answersExact,
      solutionsExact: answersExact,
    };
  });
}

const CLIPPED = {
  objective: { kind: 'ppo-clip', clipLow: 0.2, clipHigh: 0.2, dualClip: 3 },
  aggregation: { mode: 'token-mean' },
  entropy: 0.001,
} as const;

/** How far the judge is from the checker where that knows: the mean reward of answers less the share that is exact. */
function gapFigures(groups: readonly ScoredGroup[]): Record<string, number> {
  const known = groups.flatMap(({ samples, answersExact }) =>
    samples.flatMap((sample, i) => {
      const [reward, exact] = [rewardOf(sample), answersExact[i]!];
      return reward === null || exact === null ? [] : [reward - Number(exact)];
    }),
  );
  return known.length ? { rewardGap: mean(known) } : {};
}

/** The newest questions, with the rates of this round for those that it asked. */
function keptPool(questions: Pool, groups: readonly ScoredGroup[]): Pool {
  const rates = new Map(
    groups.flatMap(({ task, samples }) => {
      const paid = samples.flatMap((sample) => rewardOf(sample) ?? []);
      return paid.length ? [[task, mean(paid)] as const] : [];
    }),
  );
  return questions.map(({ task, rate }) => ({ task, rate: rates.get(task) ?? rate })).slice(-KEPT);
}

/** The items of the judge: its verdicts by whether they agree with their labels, both kinds of labels counting the same. */
function judgeItems(groups: readonly ScoredGroup[]) {
  const judged = groups.flatMap(({ samples, judgments }) => {
    const label = new Map(samples.map((sample) => [sample.id, rewardOf(sample)]));
    return judgments.map((sample) => ({ sample, label: label.get(sample.of!) ?? null }));
  });
  const labelled = judged.filter(({ label }) => label !== null);
  const samples = labelled.map(({ sample }) => sample);
  return creditedItems(
    samples,
    samples.map(({ rewards: { agreement } }) => agreement ?? null),
    labelled.map(({ label }) => label!),
    classBalanced,
  );
}

const stages = (game: AslGame) =>
  inPhases<Phase>(phaseOf, {
    generate: {
      propose: (context) => generate(game, context),
      rollOut: (context, tasks) => rollOut(game, context, tasks),
      judge: (context, groups) => judge(game, context, groups, 1),
      payProposals: ({ proposals, groups }) => {
        const scored = new Map(groups.map((group) => [group.proposal, group]));
        return new Map(
          proposals.samples.map(({ id, outcome }): [string, Maybe] => {
            if (outcome === 'held-out') return [id, null];
            if (outcome !== 'ok') return [id, 0];
            const group = scored.get(id);
            return [id, group ? verdictEntropy(group.samples.map(rewardOf)) : null];
          }),
        );
      },
      learn: ({ proposals: { samples }, groups, recipeState }) => {
        const fresh = groups.map(({ task }) => ({ task, rate: 0 }));
        const rewardsOf = samples.map(rewardOf);
        const paid = rewardsOf.flatMap((reward) => reward ?? []);
        return {
          updates: policyUpdate(
            GENERATOR,
            creditedItems(
              samples,
              rewardsOf,
              samples.map(() => 0),
              taskRelative,
            ),
            CLIPPED,
          ),
          recipeState: { questions: keptPool([...poolOf(recipeState), ...fresh], groups) },
          figures: { admitted: groups.length, ...(paid.length ? { entropy: mean(paid) } : {}) },
        };
      },
    },
    judge: {
      propose: (context) => mixed(game, context),
      rollOut: (context, tasks) => rollOut(game, context, tasks),
      judge: (context, groups) => judge(game, context, groups, VOTES),
      learn: ({ round, groups }) => ({
        updates: round.settings.variant === 'frozen' ? [] : policyUpdate(JUDGE, judgeItems(groups), CLIPPED),
        figures: gapFigures(groups),
      }),
    },
    solve: {
      propose: (context) => mixed(game, context),
      rollOut: (context, tasks) => rollOut(game, context, tasks),
      judge: (context, groups) => judge(game, context, groups, 1),
      learn: ({ groups, recipeState }: RoundRecords): TrainingPlan => ({
        updates: policyUpdate(SOLVER, groupItems(groups, grpo), CLIPPED),
        recipeState: { questions: keptPool(poolOf(recipeState), groups) },
        figures: gapFigures(groups),
      }),
    },
  });

const described = {
  name: 'asl',
  title: 'One policy that writes questions, answers them and judges the answers',
  paper: arXiv('2510.14253', 'Towards Agentic Self-Learning LLMs in Search Environment'),
  summary:
    'One policy writes questions, answers them and judges the answers, and trains each in turns without labels. Verdicts pay the answers, and the majority of verdicts is the label of each. Whether the judge must go on learning is what the variant and the rewards ask.',
  method: {
    setting:
      'Tasks are chains of small sums and differences. One set of weights writes, solves and judges; its start was taught all three, mostly answers without steps, and judges fairly well. Its questions are written from one prompt, whatever question they are to be harder than.',
    roles:
      'The generator writes a question after another: a harder one where at least half of the answers to that were right by the judge, otherwise an easier one. The solver answers each question several times, and the judge gives a verdict on each answer, or four in its own rounds. Questions that were admitted are kept, 120 at most, and half of the questions of other rounds are drawn from them.',
    rewards:
      'An answer earns 1 where the judge calls it right, otherwise 0; nothing is known where the verdict cannot be read. A verdict earns 1 where it says what most of the four say. A question earns the entropy of the verdicts on its answers, −p ln p − (1 − p) ln (1 − p), and 0 where it is none.',
    credit:
      'Answers are compared within a question (GRPO). Verdicts are centred by label, and both labels weigh the same. The rewards of questions are whitened over the round.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2], a dual clip at 3, a mean over tokens and 0.001 times the entropy, without a KL term.',
    schedule:
      'A cycle has one round of the generator, one of the judge and two of the solver, over shared weights.',
  },
  differences: [
    'Rounds follow a fixed cycle; the paper goes on with a phase until it has enough questions or its reward is on a plateau.',
    'Nobody searches: answers and verdicts are single texts. The small terms for form and for calls of tools are left out.',
    'GRPO and whitening in place of PPO with a critic. The number of attempts is the group’s size, the paper’s ten.',
    'The late labels are those of 2 % of the answers that the checker can judge, from the ninth round on; how the paper chooses its late data could not be checked.',
    'In the variant `frozen` the weights are still shared: the judge changes by what the other roles learn.',
  ],
  figures: {
    ...VERIFIER_FIGURES,
    rewardGap:
      'Mean reward of answers to questions whose answers are known, less the share of exact answers among them.',
    admitted: 'Number of questions that the generator wrote and that passed the gates.',
    entropy:
      'Mean reward of the generator’s questions: the entropy of the verdicts on their answers, nats; ln 2 = 0.693 at most.',
  },
  state: pool,
  variants: VARIANTS,
  sets: trainedSolver({ warmup: 10 }),
} satisfies Described;

const written: RecipeOver<'solve' | 'verify' | 'evolve'> = {
  // The answers are read by controls and the evaluation alone.
  needs: { verbs: ['solve', 'verify', 'evolve'], data: ['answer'] },
  over: (game) => {
    const { family, words } = game;
    return {
      ...ofFamily(family),
      ...described,
      rewards,
      roles: {
        [GENERATOR]: role('writes questions', words.evolve.maxNew, { speaksAs: 'proposer' }),
        [SOLVER]: role('answers them', words.solve.maxNew),
        [JUDGE]: role('says whether answers are right', words.verify.maxNew),
      },
      freezable: [GENERATOR, SOLVER, JUDGE],
      ...stages(game),
      evaluate: (context) => evaluateVerifier(context, { family, solver: SOLVER, judge: JUDGE, ...VOTED }),
    };
  },
  ownReward: 'its judge pays its solver',
  ownOrder: 'half of its questions are its own',
};

export const asl = played(written, evolvingSums);
