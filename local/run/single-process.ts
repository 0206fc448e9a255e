/**
 * Plays a whole run in one process, with the same stages, ids and trainer as the mesh but without queues and Workers.
 * It serves quick runs and tests; the same settings give the same tokens as on the mesh.
 */
import * as v from 'valibot';
import { proposalOutcomes } from '../../core/episodes/play-episodes.ts';
import { RollmeshError } from '../../core/errors.ts';
import { type AskService, scores, serviceKey } from '../../core/net/reward-service.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { openRoundContext, type RoundContextParts } from '../../core/recipe/round-context.ts';
import { type EvaluationTasks, HELD_OUT } from '../../core/recipe/split.ts';
import { type PolicyText, textOf } from '../../core/renderer/policy-text.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { evaluateVersion, reportRound } from '../../core/round/round-report.ts';
import { nextRounds } from '../../core/round/rounds-ahead.ts';
import { parsed } from '../../core/schema/parse.ts';
import {
  type EvaluationReport,
  type RoundMonitors,
  type RoundReport,
  roundReport,
} from '../../core/schema/report.ts';
import {
  keys,
  newestOf,
  type RoleBinding,
  type RoundSpec,
  type RunSettings,
  roundOf,
  runIdOf,
} from '../../core/schema/round.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import { type RoundLine, roundLine, type Summary, summarize } from '../../core/schema/summary.ts';
import { recipeStateOf } from '../../core/text/recipe-state.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import type { RoundTrainer } from '../../learner/train/round-trainer.ts';
import type { RunStore } from './run-store.ts';

export interface InProcessRun {
  readonly recipe: Recipe;
  readonly settings: RunSettings;
  /** The run ends when it has this many rounds, those of earlier starts included. */
  readonly rounds: number;
  /** It ends earlier with the round in which it has sampled so many tokens. */
  readonly tokens?: number | undefined;
  /** The version that the run begins from is evaluated, then that of every n-th round and of the last one. */
  readonly evaluateEvery: number;
  readonly store: RunStore;
  readonly trainer: RoundTrainer;
  readonly tokenizer: Tokenizer;
  readonly renderer?: PolicyText['renderer'];
  readonly contextLength?: number;
  /** Runs `work` with the policy of exactly this version and parameter set. */
  readonly use: RoundContextParts['use'];
  /** Asks a reward service; by default none can be asked. */
  readonly askService?: AskService | undefined;
  /** The weights that each role uses. */
  readonly roles: Readonly<Record<string, RoleBinding>>;
  /** Reads an object of tasks that lies beside the recipe; by default there are none. */
  readonly readStored?: RoundContextParts['readStored'];
  /** The evaluation tasks; by default all held-out tasks. */
  readonly evaluationTasks?: EvaluationTasks | undefined;
  readonly onStart?: (report: RoundReport) => void;
  readonly onRound?: (line: RoundLine) => void;
}

/** Where the settings of a run are kept, for those who read its lines. */
const settingsKey = (run: string) => `runs/${run}/settings.json`;
const lineKey = (run: string, round: number) => `runs/${run}/lines/${round}.json`;

/** How many rounds the run has played in this store, and the version that it begins from if it has not begun yet. */
export async function progressOf(
  settings: RunSettings,
  store: RunStore,
): Promise<{ readonly done: number; readonly from: number }> {
  const run = runIdOf(settings);
  if ((await store.getRecord(lineKey(run, 0))) === undefined)
    return { done: 0, from: (await store.currentVersion(settings.policy)) ?? 0 };
  let done = 0;
  while ((await store.getRecord(lineKey(run, done + 1))) !== undefined) done++;
  return { done, from: 0 };
}

/** Reads a line that an earlier start of the run wrote. Throws `give-up` if another version of rollmesh wrote it in another form. */
async function readLine<S extends v.GenericSchema>(
  store: RunStore,
  key: string,
  schema: S,
): Promise<v.InferOutput<S> | undefined> {
  const line = await store.getRecord(key);
  if (line === undefined) return undefined;
  return parsed(
    schema,
    line,
    (why) =>
      new RollmeshError('give-up', 'run.line', `The record ${key} cannot be read: ${why}.`, {
        next: 'Another version of rollmesh wrote it: go on with that one, or begin a run with another --policy.',
      }),
  );
}

/** The newest evaluation that a run in this store has made; undefined where it has none. */
export async function newestEvaluation(
  settings: RunSettings,
  store: RunStore,
): Promise<RoundReport['evaluation']> {
  const run = runIdOf(settings);
  let newest = (await readLine(store, lineKey(run, 0), roundReport))?.evaluation;
  for (let round = 1; ; round++) {
    const line = await readLine(store, lineKey(run, round), roundLine);
    if (!line) return newest;
    newest = line.report.evaluation ?? newest;
  }
}

/** Plays the rounds that are still missing and returns the run's summary. */
export async function runInProcess(run: InProcessRun): Promise<Summary> {
  const { recipe, settings, store } = run;
  const started = performance.now();
  const runId = runIdOf(settings);
  const kept = new Map<string, Promise<unknown>>();

  const lines: RoundLine[] = [];
  let start = await readLine(store, lineKey(runId, 0), roundReport);
  if (!start) {
    const newest = (await store.currentVersion(settings.policy)) ?? 0;
    start = { evaluation: await evaluate(run, kept, newest) };
    await store.putRecord(settingsKey(runId), settings);
    await store.putRecord(lineKey(runId, 0), start);
  }
  run.onStart?.(start);
  const first = start.evaluation?.version ?? 0;
  const { tokens: most = Number.POSITIVE_INFINITY } = run;
  const sampled = () => lines.reduce((sum, { report }) => sum + (report.monitors?.tokens ?? 0), 0);
  for (let index = 1; index <= run.rounds && sampled() < most; index++) {
    const done = await readLine(store, lineKey(runId, index), roundLine);
    if (done) {
      lines.push(done);
      continue;
    }
    // This is not the store's newest version: a round whose version was committed just before a crash is played again, with the same bytes.
    const versions = [first, ...lines.map(({ to }) => to)];
    const progress = { settings, roles: run.roles, target: index, last: index - 1, open: 0 };
    const [round] = nextRounds(progress, versions.toReversed());
    const line = await playRound(run, round!, versions.at(-1)!, kept, {
      start: start.evaluation,
      first: lines[0]?.report.monitors,
      left: most - sampled(),
    });
    await store.putRecord(lineKey(runId, index), line);
    lines.push(line);
    run.onRound?.(line);
  }
  return summarize(settings, recipe, start, lines, Math.round(performance.now() - started));
}

/** A service that is asked once about a group; a run that goes on takes the recorded answer. */
const recordedOnce =
  (ask: AskService, store: RunStore): AskService =>
  async (question) => {
    const key = serviceKey(question);
    const recorded = await store.getRecord(key);
    if (recorded !== undefined) return v.parse(scores, recorded);
    const answered = await ask(question);
    await store.putRecord(key, answered);
    return answered;
  };

/** The parts from which the context of a round, or of an evaluation like it, is opened. */
const partsOf = (
  {
    recipe,
    tokenizer,
    renderer,
    contextLength,
    use,
    store,
    askService,
    readStored,
    evaluationTasks,
  }: InProcessRun,
  round: RoundSpec,
): RoundContextParts<Recipe> => ({
  recipe,
  round,
  tokenizer,
  renderer,
  contextLength,
  textOf: async (ref) => textOf(await store.loadVersion(ref), ref.name),
  use,
  evaluationTasks,
  readStored,
  askService: askService && recordedOnce(askService, store),
  recipeState: async () => recipeStateOf(await store.loadVersion(newestOf(round))),
});

/** Evaluates `version` with the round context of the round that would come after it. */
const evaluate = (
  run: InProcessRun,
  kept: Map<string, Promise<unknown>>,
  version: number,
  start?: EvaluationReport,
): Promise<EvaluationReport> => {
  const { evaluationTasks: { heldOut, most, examined = most } = HELD_OUT } = run;
  const asked = { ...run, evaluationTasks: { heldOut, most: Math.min(most, examined) } };
  const parts = partsOf(asked, roundOf(run.settings, run.roles, version + 1, version));
  return evaluateVersion(run.recipe, parts, version, kept, start);
};

async function playRound(
  run: InProcessRun,
  round: RoundSpec,
  parent: number,
  kept: Map<string, Promise<unknown>>,
  before: {
    readonly start: EvaluationReport | undefined;
    readonly first: RoundMonitors | undefined;
    /** Tokens that may still be sampled before the run ends. */
    readonly left: number;
  },
): Promise<RoundLine> {
  const { recipe, store, settings } = run;
  const began = performance.now();
  const { proposals, groups } = await playStages(openRoundContext(partsOf(run, round)));
  await recordRound(store, round, proposals, groups);
  const rolledOut = performance.now();
  const trained = await run.trainer.train({
    recipe,
    round,
    proposals,
    groups,
    parent,
    next: parent + 1,
    load: (version, name = settings.policy) => store.loadVersion({ name, version }),
    readImage: run.readStored,
  });
  const version = parent + 1;
  await store.commitVersion({ name: settings.policy, version }, trained.files);
  const learned = performance.now();
  const decode = (ids: readonly number[]) => run.tokenizer.decode(ids);
  const report = reportRound(
    { recipe, settings, first: before.first, decode, proposals, groups, trained },
    { rolloutMs: Math.round(rolledOut - began), learnerMs: Math.round(learned - rolledOut) },
  );
  const isLast = round.index === run.rounds || (report.monitors?.tokens ?? 0) >= before.left;
  const due = isLast || round.index % run.evaluateEvery === 0;
  return {
    kind: 'round',
    round: round.index,
    from: parent,
    to: version,
    groups: {
      proposed: proposalOutcomes(proposals).length,
      admitted: proposals.tasks.length,
      scored: groups.length,
      trained: groups.length,
      stale: 0,
      failed: 0,
    },
    report: {
      ...report,
      ...(due ? { evaluation: await evaluate(run, kept, version, before.start) } : {}),
    },
    wallMs: Math.round(performance.now() - began),
  };
}

async function recordRound(
  store: RunStore,
  round: RoundSpec,
  proposals: Proposals,
  groups: readonly ScoredGroup[],
) {
  await store.putRecord(keys.proposals(round.id), proposals);
  for (const group of groups) await store.putRecord(keys.scored(round.id, group.group), group);
}
