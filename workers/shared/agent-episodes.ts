/** The episodes of agents as the mesh has them: which are open, and what is recorded of those that have ended. */
import type { R2Bucket } from '@cloudflare/workers-types';
import {
  type AgentCall,
  type AgentEpisode,
  callSampleId,
  type EpisodesOf,
} from '../../core/episodes/agent-episode.ts';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { type RoundContextParts, refOf, samplingOf, textOfRole } from '../../core/recipe/round-context.ts';
import { type EpisodeKey, nameOfEpisode, recordedCall } from '../../core/schema/agent.ts';
import type { Database } from '../store/database.ts';
import { callKey, type EpisodeRow, getEpisode, heldEpisodes } from '../store/episodes.ts';
import { readJson } from '../store/objects.ts';
import { getRound, type RoundRow } from '../store/rounds.ts';
import { keysOf, type PartialRecord } from './cpu-budget.ts';

interface Store {
  readonly db: Database;
  readonly bucket: R2Bucket;
}

/** The episode and its round. Throws, by name, where it has ended or its round has. */
export async function expectOpen(
  db: Database,
  key: EpisodeKey,
): Promise<{ readonly episode: EpisodeRow; readonly round: RoundRow }> {
  const name = nameOfEpisode(key);
  const episode = await getEpisode(db, key);
  const round = episode && (await getRound(db, episode.round));
  if (!episode || !round)
    throw wrongInput('episode.unknown', `There is no episode ${name}.`, {
      expected: 'one that was opened here',
    });
  const over = (code: string, what: string, next: string) =>
    new RollmeshError('give-up', code, what, { next });
  if (episode.state === 'rewarded')
    throw over(
      'episode.rewarded',
      `The episode ${name} has its reward, and has ended.`,
      'Nothing to do: its first reward counts. Open another one.',
    );
  if (episode.state === 'missing')
    throw over(
      'episode.given-up',
      `The episode ${name} was given up: nothing was heard of its agent for too long.`,
      'It is missing data now. Open another one.',
    );
  if (round.state !== 'rollout')
    throw over(
      'episode.round-closed',
      `The round ${round.index} of the episode ${name} is ${round.state}: it takes nothing more.`,
      'Open another one.',
    );
  return { episode, round };
}

/** One call, as it is stored. Throws `retry` where its object is not there yet. */
async function callOf({ bucket }: Store, { round, ...key }: EpisodeRow, turn: number) {
  const at = callKey(round, key, turn);
  const call = await readJson(bucket, at, recordedCall);
  if (call) return call;
  throw new RollmeshError('retry', 'episode.call-missing', `The call ${at} is not there.`);
}

/** What is stored of a group's episodes, read once for each context. */
async function storedEpisodes(mesh: Store, group: string) {
  const rows = await heldEpisodes(mesh.db, group);
  return Promise.all(
    rows.map(async (row) => ({
      row,
      calls: await Promise.all(
        row.calls.map(async ({ turn, role }) => ({ turn, role, ...(await callOf(mesh, row, turn)) })),
      ),
    })),
  );
}

/** The ended episodes of a group; those that are open still are none of the record. */
export const episodesIn =
  (mesh: Store): EpisodesOf =>
  async (group) =>
    (await storedEpisodes(mesh, group)).flatMap(({ row, calls }): AgentEpisode[] =>
      row.state === 'open'
        ? []
        : [
            {
              sample: row.sample,
              calls: calls.map(({ role, turn, prompt, maxNew }): AgentCall => {
                const reward = row.turnRewards?.[turn];
                return { role, turn, prompt, maxNew, ...(reward === undefined ? {} : { reward }) };
              }),
              rewards: Object.fromEntries(
                calls.map(({ role }) => [
                  role,
                  row.seatRewards?.[role] ?? row.reward ?? row.missing ?? 'not-rated',
                ]),
              ),
            },
          ],
    );

/** The answers to the calls of some groups, by the keys under which a stage looks completions up: none of them is drawn twice. */
export async function answeredCalls(
  mesh: Store,
  parts: Omit<RoundContextParts<Recipe>, 'use'>,
  groups: readonly string[],
): Promise<PartialRecord> {
  const { recipe, round } = parts;
  const how = new Map(
    await Promise.all(
      (recipe.agent?.seats ?? []).map(async (role) => {
        const sampling = samplingOf({ recipe, ...(await textOfRole(parts, role)) }, role);
        return [role, { ref: refOf(round, role), sampling }] as const;
      }),
    ),
  );
  const known: PartialRecord = {};
  for (const group of groups)
    for (const { row, calls } of await storedEpisodes(mesh, group))
      for (const { role, turn, prompt, maxNew, completion } of calls) {
        const { ref, sampling } = how.get(role)!;
        const id = callSampleId(group, role, row.sample, turn);
        known[keysOf(ref, { ids: prompt, sampleIds: [id] }, { ...sampling, maxNew })[0]!] = completion;
      }
  return known;
}
