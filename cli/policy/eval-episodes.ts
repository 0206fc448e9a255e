/**
 * `policy eval --agent` and `--environment URL`: measures a version by episodes that agents of one's own, or a Worker in an environment, hold of every task.
 * A mesh of this folder plays one round without a learner, so that nothing is trained; the record stays.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { parseExtractions } from '../../core/checkers/extract.ts';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import { type Engine, kernelEngineOf, type PolicyRef } from '../../core/policy/policy.ts';
import { MOST_TASKS, roundIdOf, runIdOf } from '../../core/schema/round.ts';
import type { ScoredGroup } from '../../core/schema/sample.ts';
import { clusteredInterval, type Interval } from '../../core/statistics/intervals.ts';
import { moduleFile } from '../../local/mesh/installation.ts';
import { type EpisodeFigures, episodeFigures } from '../../protocols/held-out-episodes.ts';
import { episodesEvalData, episodesEvalFrom } from '../../recipes/episodes-eval.ts';
import { runOf } from '../../recipes/run-order.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { orderRounds } from '../../workers/api/signed-webhook.ts';
import { environmentKey, environmentVars } from '../environment/options.ts';
import { refuseTakenPort } from '../port.ts';
import { openRecipes, withStateRecipes } from '../recipe-modules.ts';
import { decimal, percent } from '../shared/figures.ts';
import { gatewayOf, refuseShared, startSharedMesh } from '../shared/state-access.ts';
import { findStateFolder, writtenRecipes } from '../shared/state-folder.ts';
import { agentsHeard } from '../start/agents-heard.ts';
import { expectSetByEnvironment, heldAs } from '../task-recipe.ts';
import { writeRecipe } from '../written-recipe.ts';
import { readTaskFiles, type TaskFileOptions } from './task-file-options.ts';

export interface EpisodesRequest extends TaskFileOptions {
  readonly tasks: readonly string[];
  readonly limit?: number;
  /** Episodes of each task. */
  readonly samples: number;
  readonly temperature: number;
  readonly seed: number;
  readonly maxNew?: number;
  /** The reward from which on an episode succeeded. */
  readonly success: number;
  readonly engine?: Engine;
  readonly environment?: string;
  readonly environmentTurns?: number;
  readonly answerTool?: string;
  readonly port: number;
  readonly state: string;
}

export interface EpisodesEvaluated extends EpisodeFigures {
  readonly run: string;
  readonly tasks: number;
  /** Episodes without a reward, and tasks of which no episode asked anything. */
  readonly missing: number;
  /** The 95 % interval of `success` over tasks. */
  readonly interval: Interval;
}

/** Answers of the policy, without another number: as `policy eval` has for checkpoints. */
const MAX_NEW = 512;
const POLL_MS = 500;

/** What the episodes of a round came to; null where none has a reward. `asked`: how many episodes there should be. */
export function figuresOfEpisodes(
  groups: readonly Pick<ScoredGroup, 'samples'>[],
  success: number,
  asked: number,
): Omit<EpisodesEvaluated, 'run' | 'tasks'> | null {
  const figures = episodeFigures(groups, success);
  if (!figures) return null;
  const shares = groups.flatMap((group) => episodeFigures([group], success)?.success ?? []);
  return { ...figures, missing: asked - figures.episodes, interval: clusteredInterval(shares) };
}

/** The recipe of the evaluation, as a module in the state folder. */
async function recipeOf({ name, version }: PolicyRef, request: EpisodesRequest, state: string) {
  const read = await readTaskFiles(request.tasks, request);
  const tasks = read.slice(0, request.limit);
  if (tasks.length > MOST_TASKS)
    throw wrongInput('eval.tasks', `The files have ${tasks.length} tasks.`, {
      expected: `at most ${MOST_TASKS}`,
      next: `Add --limit ${MOST_TASKS}.`,
    });
  if (request.environment !== undefined) expectSetByEnvironment(request.environment, tasks);
  const environment = heldAs(request);
  const data = v.parse(episodesEvalData, {
    name: request.tasks.join(', '),
    start: name,
    checker: request.checker,
    extract: parseExtractions('boxed,answer,whole'),
    sources: [{ weight: 1, tasks }],
    policy: { name, version },
    maxNew: request.maxNew ?? MAX_NEW,
    temperature: request.temperature,
    ...(environment ? { environment } : {}),
  });
  const recipe = episodesEvalFrom(data);
  const module = await writeRecipe(writtenRecipes(state), {
    name: recipe.name,
    from: 'files of tasks',
    imports: [`import { episodesEvalFrom } from ${JSON.stringify(moduleFile('recipes/episodes-eval'))};`],
    code: 'episodesEvalFrom(data)',
    data,
  });
  return { recipe, tasks: tasks.length, module };
}

/** Waits until the round has all of its episodes; `tell` hears how many groups are judged. */
async function judged(
  gateway: GatewayClient,
  round: string,
  tell: (words: string) => void,
  signal: AbortSignal,
) {
  let before = '';
  for (;;) {
    signal.throwIfAborted();
    const { state, groups, expected, reason } = await gateway.getRound(round);
    if (state === 'training') return;
    if (state === 'failed' || state === 'done')
      throw new RollmeshError('give-up', 'eval.failed', `The episodes came to nothing: ${reason ?? state}.`);
    const words = `${groups.scored + groups.failed} of ${expected} tasks have all of their episodes`;
    if (words !== before && expected) tell(words);
    before = words;
    await sleep(POLL_MS, undefined, { signal });
  }
}

export async function evaluateEpisodes(
  ref: PolicyRef,
  request: EpisodesRequest,
  tell: (words: string) => void,
): Promise<EpisodesEvaluated> {
  const { environment, success, samples } = request;
  const state = findStateFolder(request.state);
  refuseShared(state);
  await refuseTakenPort(request.port);
  if (environment !== undefined) await (await import('../environment/reach.ts')).hostOf(environment);
  const { recipe, tasks, module } = await recipeOf(ref, request, state);
  const opened = await withStateRecipes(await openRecipes([module]), state);
  const stop = new AbortController();
  const key = environmentKey();
  const { mesh, stop: end } = await startSharedMesh({
    stateDir: state,
    port: request.port,
    recipes: opened.modules.map(({ file }) => file),
    vars: environmentVars(request),
    secrets: key === undefined ? {} : { ORS_API_KEY: key },
  });
  const abort = () => stop.abort(new RollmeshError('give-up', 'eval.stopped', 'The evaluation was stopped.'));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(name).on(name, abort);
  const gateway = gatewayOf(mesh);
  try {
    const engine = kernelEngineOf(request.engine);
    const ordered = async (
      seed: number,
    ): Promise<{ order: Parameters<typeof orderRounds>[2]; run: string }> => {
      const order = {
        recipe: recipe.name,
        policy: ref.name,
        seed,
        rounds: 1,
        groupSize: samples,
        ...(engine ? { engine } : {}),
      };
      const run = runIdOf(runOf(opened.registry, { ...order, freeze: [] }).settings);
      // Agents need not do the same twice: an evaluation that was made before is made anew.
      return (await gateway.listRounds(run)).length ? ordered(seed + 1) : { order, run };
    };
    const { order, run } = await ordered(request.seed);
    await orderRounds(mesh.url, mesh.secrets.WEBHOOK_SECRET, order);
    const { url } = await gateway.getAgentAccess(run);
    tell(
      environment === undefined
        ? `waiting for agents at ${url}; \`npx rollmesh agents last\` prints their token`
        : `a Worker of the mesh holds ${tasks * samples} episodes in ${environment}`,
    );
    const round = roundIdOf(run, 1);
    try {
      await judged(gateway, round, tell, stop.signal);
    } finally {
      await gateway.stopRun(run, 'an evaluation, which trains nothing');
    }
    const groups: Pick<ScoredGroup, 'samples'>[] = [];
    for await (const { samples } of gateway.contentsOf(round)) if (samples) groups.push({ samples });
    const figures = figuresOfEpisodes(groups, success, tasks * samples);
    if (environment === undefined) await agentsHeard(gateway, run, stop.signal);
    if (!figures)
      throw new RollmeshError(
        'give-up',
        'eval.unpaid',
        `None of the ${tasks * samples} episodes has a reward.`,
        {
          expected: 'agents that post what an episode is worth',
        },
      );
    return { run, tasks, ...figures };
  } finally {
    await end();
  }
}

/** The text that the command prints for people. */
export const episodeLines = (name: string, version: number, of: EpisodesEvaluated): string[] => [
  `${name} ${version} in ${of.episodes} episodes of ${of.tasks} tasks${of.missing ? `; ${of.missing} have no reward` : ''}`,
  `  success          ${percent(of.success, 1).padStart(7)}  (95 %: ${percent(of.interval.low, 1)} to ${percent(of.interval.high, 1)})`,
  `  return           ${decimal(of.return, 3).padStart(7)}`,
  `  turns            ${decimal(of.turns, 1).padStart(7)}`,
  `  tokens           ${decimal(of.tokens, 1).padStart(7)}  of an episode`,
  `  \`npx rollmesh trajectories ${of.run}\` writes them down`,
];
