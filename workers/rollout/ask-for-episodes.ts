/**
 * Asks the environment Worker to hold the episodes of a round, where the mesh names an environment: one message an episode. A message that is sent
 * again opens no second one, so that whatever drives a waiting group on may ask again.
 */
import * as v from 'valibot';
import type { AgentSeats } from '../../core/episodes/agent-episode.ts';
import { wrongInput } from '../../core/errors.ts';
import {
  type EnvironmentOrder,
  environmentOrder,
  nameOfEpisode,
  USUAL_TURNS,
} from '../../core/schema/agent.ts';
import { environmentSetTask } from '../../core/schema/openenv.ts';
import { parsed } from '../../core/schema/parse.ts';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import { type StageQueue, sendAll } from '../shared/messages.ts';
import type { RoundRow } from '../store/rounds.ts';

/** The environment Worker's queue, and what it is told of the environment. */
export interface EpisodeRequests {
  readonly queue: StageQueue<'episode'>;
  readonly environment: EnvironmentOrder;
}

/** Variables of the rollout Worker; without an address the mesh has no environment. */
export interface EnvironmentVars {
  readonly ENVIRONMENT_URL?: string;
  readonly ENVIRONMENT_TURNS?: string;
  readonly ENVIRONMENT_ANSWER_TOOL?: string;
}

/** Throws `environment.settings`. */
export const environmentOf = ({
  ENVIRONMENT_URL: url,
  ENVIRONMENT_TURNS: turns,
  ENVIRONMENT_ANSWER_TOOL: answerTool,
}: EnvironmentVars): EnvironmentOrder | undefined =>
  url
    ? parsed(
        environmentOrder,
        { url, turns: Number(turns || USUAL_TURNS), ...(answerTool ? { answerTool } : {}) },
        (why) => wrongInput('environment.settings', `The variables ENVIRONMENT_… are wrong: ${why}.`),
      )
    : undefined;

/** Tasks of anything else, and episodes with several seats, are left to other agents. */
export async function askForEpisodes(
  { queue, environment }: EpisodeRequests,
  { spec }: RoundRow,
  { seats, taskView }: AgentSeats,
  tasks: readonly AdmittedTask[],
): Promise<void> {
  if (seats.length > 1) return;
  const { groupSize } = spec.settings;
  await sendAll(
    queue,
    'episode',
    tasks
      .filter(({ task }) => v.is(environmentSetTask, taskView(task)))
      .flatMap(({ group }) =>
        Array.from({ length: groupSize }, (_, sample) => ({
          v: 1 as const,
          run: spec.run,
          key: nameOfEpisode({ group, sample }),
          environment,
        })),
      ),
  );
}
