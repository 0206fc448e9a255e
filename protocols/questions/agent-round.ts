/**
 * A round whose rollouts are held by agents: programs outside the mesh that ask the policy through an endpoint, act on its answers, and post the
 * reward of each episode. The tasks are those of a file; the agents decide on prompts, on the number of turns and on rewards.
 */
import { type AgentEpisode, callSampleId } from '../../core/agent-episode.ts';
import { RollmeshError } from '../../core/errors.ts';
import { episodesOf } from '../../core/play-episodes.ts';
import { Random } from '../../core/random.ts';
import type { Recipe, RoundShape } from '../../core/recipe.ts';
import { type RoundContext, sampleOf } from '../../core/round-context.ts';
import type { AdmittedTask, RolloutGroup, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { drawFileTasks } from '../../tasks/file/sampler.ts';
import { admitTasks } from '../drawn-tasks.ts';
import { SOLVER } from '../solver.ts';
import type { DrawingContext } from './curriculum.ts';
import { type Questions, questionRound } from './round.ts';
import { readTask, writeTask } from './task-text.ts';

const REWARDS = {
  posted: {
    description: 'the number that the agent posts at the end of its episode',
    // What the agent computes it from is not known here.
    usesGold: true,
  },
} as const satisfies Recipe['rewards'];

/** The samples of an episode in their order, one for each answer; each later sample belongs, by its `of`, to the first. */
async function samplesOf(
  context: RoundContext,
  { group }: AdmittedTask,
  { sample, calls }: AgentEpisode,
): Promise<Sample[]> {
  const ids = calls.map(({ turn }) => callSampleId(group, SOLVER, sample, turn));
  const samples: Sample[] = [];
  for (const [i, { turn, prompt, maxNew }] of calls.entries()) {
    const id = ids[i]!;
    const [[completion]] = (await context.generate(SOLVER, [{ ids: prompt, sampleIds: [id] }], {
      maxNew,
    })) as [[Parameters<typeof sampleOf>[4]]];
    const outcome = completion.stopped ? 'ok' : 'cut-off';
    samples.push({
      ...sampleOf(context, SOLVER, id, prompt, completion, outcome),
      turn,
      ...(i > 0 ? { of: ids[0]! } : {}),
    });
  }
  return samples;
}

async function rollOut(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const groups: RolloutGroup[] = [];
  for (const task of tasks) {
    const samples: Sample[] = [];
    for (const episode of await context.episodes(task.group))
      samples.push(...(await samplesOf(context, task, episode)));
    if (samples.length === 0)
      throw new RollmeshError(
        'give-up',
        'agent.silent',
        'No episode of this task asked the policy anything.',
        {
          expected: 'agents that ask for at least one answer before they post a reward or go away',
        },
      );
    groups.push({ round: context.round.id, ...task, samples });
  }
  return groups;
}

/** Each sample with its episode's reward, and with its own as `turn` where the agent named one. */
async function pay(context: RoundContext, group: RolloutGroup): Promise<ScoredGroup> {
  const held = await context.episodes(group.group);
  const idOf = (sample: number, turn: number) => callSampleId(group.group, SOLVER, sample, turn);
  const rewards = new Map(
    held.flatMap(({ sample, calls: [first], reward }) =>
      first ? [[idOf(sample, first.turn), reward] as const] : [],
    ),
  );
  const paid = new Map(
    held.flatMap(({ sample, calls }) =>
      calls.map(({ turn, reward }) => [idOf(sample, turn), reward] as const),
    ),
  );
  const samples = episodesOf(group.samples).flatMap((turns) => {
    const reward = rewards.get(turns[0]!.id) ?? 'not-rated';
    return turns.map((turn) => {
      const own = paid.get(turn.id);
      const more = own === undefined ? {} : { turn: own };
      return typeof reward === 'number'
        ? { ...turn, rewards: { reward, ...more } }
        : { ...turn, rewards: { reward: null, ...more }, missing: { reward } };
    });
  });
  const unchecked = samples.map(() => null);
  return { ...group, samples, judgments: [], answersExact: unchecked, solutionsExact: unchecked };
}

/** Held-out questions are asked by the mesh itself, once each and without the agent's tools, because the mesh has no agent of its own. */
export function agentRound(questions: Questions): RoundShape {
  const { tasks, maxNew, temperature = 1 } = questions;
  const { taskName, freezable, evaluate, describe } = questionRound(questions);
  return {
    taskName,
    freezable,
    evaluate,
    ...(describe ? { describe } : {}),
    rewards: REWARDS,
    roles: {
      [SOLVER]: { description: 'answers agents, through the endpoint', sampling: { maxNew, temperature } },
    },
    agent: {
      role: SOLVER,
      told: (task) => {
        const { messages, answer, metadata } = readTask(task);
        return { messages, answer, metadata };
      },
    },
    propose: async ({ round, weightOf }: DrawingContext) => {
      const drawn = drawFileTasks(new Random(`${round.id}/tasks`), tasks.sources, round.settings.tasks, {
        weightOf: weightOf && ((task) => weightOf(writeTask(task))),
      });
      return admitTasks(round, drawn.map(writeTask));
    },
    rollOut,
    judge: (context, groups) => Promise.all(groups.map((group) => pay(context, group))),
  };
}
