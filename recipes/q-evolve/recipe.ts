/** Q-Evolve: a critic by implicit Q-learning turns episodes into rewards of their turns. */
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { deriveId, Random } from '../../core/random.ts';
import { arXiv, type EpisodeMethod, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { grpo } from '../../core/rl/estimators/index.ts';
import { positionsByKey } from '../../core/rl/groups.ts';
import { areaUnderRoc } from '../../core/rl/measures/area-under-roc.ts';
import { mean, whiten } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { returnOf } from '../../protocols/episode-credit.ts';
import { AGENT, evaluateGrid, GRID_CONTROLS, judgeGrid, rollGrid } from '../../protocols/grid-agent.ts';
import { ppoClip, updateOf } from '../../protocols/objectives.ts';
import { policyUpdate, SOLVER, smallSteps, withAdvantages } from '../../protocols/solver.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { expertPush } from '../../worlds/grids/demonstrations.ts';
import { gridTask, openGrid, TURN_TOKENS, usefulTurns } from '../../worlds/grids/play.ts';
import { PUSH_CELLS } from '../../worlds/grids/push.ts';
import { gridEnding, gridParts, gridTitle } from '../../worlds/grids/reading.ts';
import { STOP } from '../../worlds/worked.ts';
import {
  type PaidEpisode,
  processRewards,
  regression,
  statesOf,
  turnRegression,
  valuesBefore,
} from './process-rewards.ts';

const CRITIC = 'critic';
/** τ of the critic's expectile. */
const EXPECTILE = 0.7;
/** Passes of the critic over a round's episodes. */
const CRITIC_EPOCHS = 2;

const VARIANTS = {
  outcome: 'no critic: every turn of an episode has the advantage of its return in its world (GRPO)',
  'expectile-50': 'the critic regresses means (τ = 0.5)',
  shuffled: 'advantages change places among the turns of episodes that ended alike',
  'no-experts': 'the critic learns from the agent’s own episodes alone',
} as const;

/** An episode of a round, as it was played. */
interface Played extends PaidEpisode {
  readonly turns: readonly Sample[];
  readonly group: ScoredGroup;
}

/** Advantages [episodes][turns] that the critic gives, and the regression that it learns by. */
async function byCritic(
  { round, groups }: RoundRecords,
  episodes: readonly Played[],
  { values, encode }: LearnTools,
): Promise<{ advantages: number[][]; critic: ReturnType<typeof regression>[] }> {
  const { variant, rewardFunction } = round.settings;
  // Where a control pays, no expert tells the critic of goals.
  const experts: PaidEpisode[] =
    rewardFunction === 'success' && variant !== 'no-experts'
      ? groups.map(({ task }) => ({
          turns: expertPush(task).map(({ prompt, completion }) => ({
            prompt: encode(prompt),
            ids: encode(completion),
          })),
          reward: 1,
        }))
      : [];
  const all = [...episodes, ...experts];
  const known = await values(CRITIC, all.map(statesOf));
  const before = all.map((episode, i) => valuesBefore(episode, known[i]!));
  return {
    advantages: episodes.map((episode, i) => processRewards(episode, before[i]!)),
    critic: all.map((episode, i) => regression(episode, before[i]!)),
  };
}

/** Advantages [turns] that change places among turns whose episodes were paid alike [turns]. */
function shuffled(advantages: readonly number[], paid: readonly number[], seed: string): number[] {
  const random = new Random(`${seed}/advantages`);
  const out = [...advantages];
  for (const at of positionsByKey(paid).values())
    for (const [i, from] of random.shuffle(at).entries()) out[at[i]!] = advantages[from]!;
  return out;
}

/** How well advantages [turns] tell turns that brought the goal nearer from the others, by the oracle: over all, and over turns of failed episodes. */
function usefulness(
  episodes: readonly Played[],
  advantages: readonly number[],
  decode: LearnTools['decode'],
): Record<string, number> {
  const turns = episodes.flatMap(({ group, turns }) => {
    const failed = group.answersExact[group.samples.indexOf(turns[0]!)] !== true;
    return usefulTurns(
      openGrid(group.task),
      turns.map(({ ids }) => decode(ids)),
    ).map((useful) => ({ useful, failed }));
  });
  const aucOf = (at: readonly number[]) =>
    areaUnderRoc(
      at.map((i) => advantages[i]!),
      at.map((i) => turns[i]!.useful),
    );
  return {
    auc: aucOf([...turns.keys()]),
    failedAuc: aucOf([...turns.keys()].filter((i) => turns[i]!.failed)),
    useful: mean(turns.map(({ useful }) => Number(useful))),
  };
}

/** The episodes that have a return. One that is missing is not a return of 0: nothing is learnt from the episode. */
const paidEpisodes = (groups: readonly ScoredGroup[]): Played[] =>
  groups.flatMap((group) =>
    episodesOf(group.samples).flatMap((turns): Played[] => {
      const reward = returnOf(turns);
      return reward === null ? [] : [{ group, turns, reward }];
    }),
  );

const expectileOf = (variant: string | undefined): number => (variant === 'expectile-50' ? 0.5 : EXPECTILE);

async function learn(records: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const { round, groups } = records;
  const { variant } = round.settings;
  const episodes = paidEpisodes(groups);
  if (episodes.length === 0) return { updates: [] };
  const judged = variant === 'outcome' ? null : await byCritic(records, episodes, tools);
  const outcomes = grpo(
    episodes.map(({ reward }) => reward),
    episodes.map(({ group }) => group.group),
  );
  const plain = episodes.flatMap(({ turns }, i) => judged?.advantages[i] ?? turns.map(() => outcomes[i]!));
  const paid = episodes.flatMap(({ turns, reward }) => turns.map(() => reward));
  const advantages = variant === 'shuffled' ? shuffled(plain, paid, round.id) : plain;
  const credit = judged ? whiten(advantages) : advantages;
  const samples = episodes.flatMap(({ turns }) => turns);
  const expectile = expectileOf(variant);
  const worth =
    judged && ({ kind: 'value', role: AGENT, weight: 1, items: judged.critic, expectile } as const);
  return {
    updates: [
      ...(worth ? updateOf([worth], { epochs: CRITIC_EPOCHS }, CRITIC) : []),
      ...policyUpdate(AGENT, withAdvantages(samples, credit), ppoClip()),
    ],
    figures: usefulness(episodes, advantages, tools.decode),
  };
}

const optimizer = smallSteps({ learningRate: 1.4e-3, warmup: 10, minibatches: 2 });

const sets: WithoutSetup['sets'] = {
  [MAIN_SET]: { optimizer },
  [CRITIC]: { optimizer: { ...optimizer, minibatches: 8 }, head: { kind: 'value' } },
};

/**
 * The same on episodes that agents hold. A conversation need not go on from the one before, so that the value before each turn is asked after the prompt of
 * that turn.
 */
async function learnFromAgents(
  { round, groups }: RoundRecords,
  { values }: LearnTools,
): Promise<TrainingPlan> {
  const { variant } = round.settings;
  const episodes = paidEpisodes(groups);
  if (episodes.length === 0) return { updates: [] };
  const turns = episodes.flatMap((episode) => episode.turns);
  const before = [
    ...(await values(
      CRITIC,
      turns.map(({ prompt, ids }) => ({ prompt, ids: ids.slice(0, 1) })),
    )),
  ];
  const judged = episodes.map((episode) => {
    const known = before.splice(0, episode.turns.length).map((value) => value[0]!);
    return { advantages: processRewards(episode, known), critic: turnRegression(episode, known) };
  });
  const advantages = judged.flatMap((episode) => episode.advantages);
  const paid = episodes.flatMap((episode) => episode.turns.map(() => episode.reward));
  const credit = whiten(variant === 'shuffled' ? shuffled(advantages, paid, round.id) : advantages);
  const worth = {
    kind: 'value',
    role: SOLVER,
    weight: 1,
    items: judged.flatMap(({ critic }) => critic),
    expectile: expectileOf(variant),
  } as const;
  return {
    updates: [
      ...updateOf([worth], { epochs: CRITIC_EPOCHS }, CRITIC),
      ...policyUpdate(SOLVER, withAdvantages(turns, credit), ppoClip()),
    ],
  };
}

const TITLE = 'Process rewards for agents by implicit Q-learning on their own episodes';
const PAPER = arXiv('2606.07367', 'Self-evolving LLM Agents with In-distribution Optimization');

const inEpisodes: EpisodeMethod = {
  title: TITLE,
  paper: PAPER,
  summary:
    'A critic learns from agents’ episodes what states are worth, by expectile regression, which asks for no action that nobody took. What an answer changes in that worth is its reward, and the policy is trained on the same episodes.',
  method: {
    setting:
      'Programs outside the mesh hold the episodes of tasks from files, in as many turns as they like.',
    roles: 'The solver answers agents. No expert plays.',
    rewards:
      'What the agent posts at the end of its episode is paid to its last answer, and nothing else is paid.',
    credit:
      'A critic with weights of its own gives the value of what is read before each answer. Values are drawn to r + 0.99·V(next), by expectile regression with τ = 0.7. Answers of episodes with a higher reward weigh more the nearer they are to the end. The advantage of an answer is by generalised advantage estimation with λ = 0.9, and is whitened over the round’s answers.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens. There is no KL term.',
    schedule: 'Each round trains first the critic, in two passes over its episodes, then the policy in one.',
  },
  differences: [
    'Values alone are learnt; the paper learns Q beside them. An environment with chance is valued at what happened.',
    'There are no experts’ episodes.',
    'An answer weighs 1 + R·0.5ⁿ, with R the episode’s reward, from 0 to 1, and n the answers after it.',
  ],
  variants: { 'expectile-50': VARIANTS['expectile-50'], shuffled: VARIANTS.shuffled },
  sets,
  learn: learnFromAgents,
};

export const qEvolve: WithoutSetup = {
  name: 'q-evolve',
  title: TITLE,
  paper: PAPER,
  inEpisodes,
  summary:
    'An agent pushes boxes and is told no more than whether an episode reached its goal. A critic learns from these episodes and from experts’ ones what states are worth, by expectile regression, which asks for no action that nobody took. What a turn changes in that worth is its reward, and the policy is trained on the same episodes.',
  method: {
    setting:
      'An agent in a room of five by five fields pushes a box onto its place, in up to five turns of up to five moves; the shortest way has two to four. Rooms are drawn anew for each task, and a wrong push can make the goal unreachable. The start policy imitates agents that stray.',
    roles:
      'The agent is the only role. It plays eight episodes in each of a round’s rooms; after each turn it reads the new state. An expert’s episode, which goes a shortest way, is added for each room.',
    rewards: 'An episode that reaches its goal is paid 1 with its last turn, and nothing else is paid.',
    credit:
      'A critic with weights of its own gives the value of the state before each turn. Values are drawn to r + 0.99·V(next state), which is Q of the turn, by expectile regression with τ = 0.7: nearer to the better of the turns that were taken, without asking for others. Turns of successful episodes weigh more the nearer they are to the end. The advantage of a turn is by generalised advantage estimation with λ = 0.9, and is whitened over the round’s turns.',
    objective:
      'A clipped policy gradient with ratios in [0.8, 1.2] and a mean over tokens, on the episodes on which the critic is trained. There is no KL term.',
    schedule:
      'Each round trains first the critic, in two passes over its episodes, then the policy in one. Advantages are those of the critic that the rounds before left.',
  },
  needsOfTasks: { datum: 'turns', which: 'an environment of several turns' },
  differences: [
    'Values alone are learnt: worlds here have no chance, so that the Q of a turn is its reward and the value of the state that it led to. The paper learns Q beside them.',
    'The form of the paper’s weights could not be checked: here a turn weighs 1 + R·0.5ⁿ, with R the episode’s return and n the turns after it. Nor could its τ, γ and λ.',
    'Experts’ episodes teach the critic alone: the start policy has imitated such episodes, and outcome rewards, with which the method is compared, have none.',
    'Data are a round’s own; the paper collects them in a few large iterations.',
  ],
  figures: {
    auc: 'Area under the ROC curve of advantages for turns that bring the goal nearer, by the oracle; 0.5 is chance.',
    failedAuc: 'The same area among turns of episodes that fail.',
    useful: 'Share of turns that bring the goal nearer.',
    'push-greedy': 'Share of held-out rooms whose box reaches its place, greedy.',
    'push-sampled': 'Share of held-out rooms whose box reaches its place where turns are sampled.',
  },
  taskName: 'push',
  stop: STOP,
  rewards: {
    success: { usesGold: true, description: '1 for an episode that reaches its goal' },
    ...GRID_CONTROLS,
  },
  variants: VARIANTS,
  sets,
  roles: {
    [AGENT]: role('plays', TURN_TOKENS, { placement: 'turn', shown: 'the board' }),
  },
  propose: async (context) =>
    drawnTasks(context, (random) => gridTask('push', deriveId('world', random.uint32()))),
  rollOut: rollGrid,
  judge: async (context, groups) => judgeGrid(context, groups, ({ success }) => Number(success)),
  learn,
  evaluate: (context) => evaluateGrid(context, ['push']),
  describe: { parts: (_, text) => gridParts(text), cells: PUSH_CELLS, title: gridTitle, ending: gridEnding },
};
