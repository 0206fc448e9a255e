/**
 * A round whose rollouts are held by agents: programs outside the mesh that ask the policy through an endpoint, act on its answers, and post the
 * reward of each episode. The tasks are those of a file; the agents decide on prompts, on the number of turns and on rewards. An episode has
 * one seat or several, each a role: what a seat was asked and what it is paid is its own, and it may be played by a version that is not trained.
 */
import * as v from 'valibot';
import { type AgentEpisode, callSampleId } from '../core/episodes/agent-episode.ts';
import { RollmeshError } from '../core/errors.ts';
import type { DrawingContext } from '../core/game/game.ts';
import { Random } from '../core/random.ts';
import type { Recipe, RoundShape } from '../core/recipe/recipe.ts';
import { type RoundContext, sampleOf } from '../core/recipe/round-context.ts';
import type { Seat } from '../core/schema/agent.ts';
import { MAIN_SET } from '../core/schema/policy.ts';
import type { RunSettings } from '../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../core/schema/sample.ts';
import { admitTasks } from '../worlds/drawn-tasks.ts';
import { drawFileTasks } from '../worlds/file/sampler.ts';
import { readTask, writeTask } from '../worlds/questions/task-text.ts';
import { type Questions, questionRound } from './questions/round.ts';
import { SOLVER } from './solver.ts';

const REWARDS = {
  posted: {
    description: 'the number that the agent posts at the end of its episode',
    // What the agent computes it from is not known here.
    usesGold: true,
  },
} as const satisfies Recipe['rewards'];

/** The samples of an episode in their order, one for each answer; each later sample of a seat belongs, by its `of`, to the seat's first. */
async function samplesOf(
  context: RoundContext,
  { group }: AdmittedTask,
  { sample, calls }: AgentEpisode,
  isShared: boolean,
): Promise<Sample[]> {
  const firsts = new Map<string, string>();
  const samples: Sample[] = [];
  for (const { role, turn, prompt, maxNew } of calls) {
    const id = callSampleId(group, role, sample, turn);
    const [[completion]] = (await context.generate(role, [{ ids: prompt, sampleIds: [id] }], { maxNew })) as [
      [Parameters<typeof sampleOf>[4]],
    ];
    const outcome = completion.stopped ? 'ok' : 'cut-off';
    const of = firsts.get(role);
    samples.push({
      ...sampleOf(context, role, id, prompt, completion, outcome),
      turn,
      ...(of === undefined ? {} : { of }),
      ...(isShared ? { episode: sample } : {}),
    });
    firsts.set(role, of ?? id);
  }
  return samples;
}

async function rollOut(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  isShared: boolean,
): Promise<RolloutGroup[]> {
  const groups: RolloutGroup[] = [];
  for (const task of tasks) {
    const samples: Sample[] = [];
    for (const episode of await context.episodes(task.group))
      samples.push(...(await samplesOf(context, task, episode, isShared)));
    if (samples.length === 0)
      throw new RollmeshError(
        'give-up',
        'agent.silent',
        'No episode of this task asked the policy anything.',
        { expected: 'agents that ask for at least one answer before they post a reward or go away' },
      );
    groups.push({ round: context.round.id, ...task, samples });
  }
  return groups;
}

/** Each sample with its seat's reward for the episode, and with its own as `turn` where the agent named one. */
async function pay(context: RoundContext, group: RolloutGroup): Promise<ScoredGroup> {
  const held = await context.episodes(group.group);
  const paid = new Map(
    held.flatMap(({ sample, calls, rewards }) =>
      calls.map(({ role, turn, reward }) => {
        const id = callSampleId(group.group, role, sample, turn);
        return [id, { reward: rewards[role] ?? 'not-rated', own: reward }] as const;
      }),
    ),
  );
  const samples = group.samples.map((sample): Sample => {
    const { reward, own } = paid.get(sample.id) ?? { reward: 'not-rated' as const };
    const more = own === undefined ? {} : { turn: own };
    return typeof reward === 'number'
      ? { ...sample, rewards: { reward, ...more } }
      : { ...sample, rewards: { reward: null, ...more }, missing: { reward } };
  });
  const unchecked = samples.map(() => null);
  return { ...group, samples, judgments: [], answersExact: unchecked, solutionsExact: unchecked };
}

/** How a Worker holds the episodes in an environment, in a recipe's data, where that is not as usual. */
export const environmentHeld = v.exactOptional(
  v.strictObject({
    turns: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
    answerTool: v.exactOptional(v.string()),
  }),
);

/** The seats of a run that names none. */
export const ONE_SEAT: readonly Seat[] = [{ name: SOLVER }];

/** The parameter set that a seat plays with, and trains. */
export const setOf = ({ name, own }: Seat): string => (own ? name : MAIN_SET);

/** The seats that are played by the run's own policy, and are trained unless they are frozen. */
export const trainedSeats = (seats: readonly Seat[]): Seat[] => seats.filter(({ policy }) => !policy);

/**
 * Held-out questions are asked by the mesh itself, once each and without the agent's tools, because the mesh has no agent of its own. The
 * first of the trained seats answers them. `count`: how many tasks a round draws.
 */
export function agentRound(
  questions: Questions,
  seats: readonly Seat[],
  count = (settings: RunSettings): number => settings.tasks,
): RoundShape & Pick<Recipe, 'bindings'> {
  const { tasks, maxNew, temperature = 1 } = questions;
  const trained = trainedSeats(seats).map(({ name }) => name);
  const { taskName, evaluate, describe } = questionRound(questions, trained[0]);
  const isShared = seats.length > 1;
  const fixed = seats.flatMap(({ name, policy }) => (policy ? [[name, { fixed: policy }] as const] : []));
  return {
    taskName,
    freezable: isShared ? trained : [],
    evaluate,
    ...(describe ? { describe } : {}),
    rewards: REWARDS,
    roles: Object.fromEntries(
      seats.map(({ name, policy, own }) => [
        name,
        {
          description: `answers agents, through the endpoint${
            policy
              ? `; it is ${policy.name}@${policy.version} and is not trained`
              : own
                ? '; its weights are its own'
                : ''
          }`,
          ...(own ? { set: name } : {}),
          sampling: { maxNew, temperature },
        },
      ]),
    ),
    ...(fixed.length ? { bindings: () => Object.fromEntries(fixed) } : {}),
    agent: {
      seats: seats.map(({ name }) => name),
      taskView: (task) => {
        const { messages, answer, metadata } = readTask(task);
        return { messages, answer, metadata };
      },
    },
    propose: async ({ round, weightOf, readStored }: DrawingContext) => {
      const random = new Random(`${round.id}/tasks`);
      const drawn = await drawFileTasks(readStored, random, tasks.sources, count(round.settings), {
        weightOf,
      });
      return admitTasks(round, drawn.map(writeTask));
    },
    rollOut: (context, admitted) => rollOut(context, admitted, isShared),
    judge: (context, groups) => Promise.all(groups.map((group) => pay(context, group))),
  };
}
