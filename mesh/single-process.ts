/**
 * A whole run in one process: the same stages, the same ids and the same trainer as the mesh, without queues and
 * Workers. For quick runs, claims and tests; the same settings give the same tokens as the mesh does.
 */
import type { Policy, PolicyRef } from '../core/policy.ts';
import type { Recipe } from '../core/recipe.ts';
import { assemble } from '../core/roles/assemble.ts';
import { evaluate, type JudgeItem, naturalSolutions } from '../core/roles/evaluate.ts';
import { judge } from '../core/roles/judge.ts';
import { monitorRound } from '../core/roles/monitors.ts';
import { propose } from '../core/roles/propose.ts';
import { solve } from '../core/roles/solve.ts';
import type { RoleName, Stage } from '../core/roles/stage.ts';
import { warningsOf } from '../core/roles/warnings.ts';
import type { VersionFiles } from '../core/schema/policy.ts';
import type { RoundReport } from '../core/schema/report.ts';
import { keys, type RoundSpec, type RunSettings, roundOf, runIdOf } from '../core/schema/round.ts';
import type { Proposals, ScoredGroup } from '../core/schema/sample.ts';
import { type RoundLine, type Summary, summarize } from '../core/schema/summary.ts';
import type { Tokenizer } from '../core/text/tokenizer-port.ts';
import type { RoundTrainer } from '../learner/train/round-trainer.ts';
import type { RunStore } from './run-store.ts';

export interface SingleProcess {
  readonly recipe: Recipe;
  readonly settings: RunSettings;
  /** The run ends when it has this many rounds, those of earlier starts included. */
  readonly rounds: number;
  /** Evaluate version 0 and every n-th round. */
  readonly evaluateEvery: number;
  readonly store: RunStore;
  readonly trainer: RoundTrainer;
  readonly tokenizer: Tokenizer;
  readonly openPolicy: (ref: PolicyRef, files: VersionFiles) => Promise<Policy>;
  readonly onStart?: (report: RoundReport) => void;
  readonly onRound?: (line: RoundLine) => void;
}

const lineKey = (run: string, round: number) => `runs/${run}/lines/${round}.json`;

/** Plays the rounds that are still missing and returns the run's summary. */
export async function runInProcess(run: SingleProcess): Promise<Summary> {
  const { recipe, settings, store } = run;
  const started = performance.now();
  const runId = runIdOf(settings);
  const policies = new PolicyPair(run);
  const natural = await naturalSolutions(recipe, await policies.open(0), run.tokenizer);

  const lines: RoundLine[] = [];
  let start = (await store.getRecord(lineKey(runId, 0))) as RoundReport | undefined;
  if (!start) {
    start = { evaluation: await evaluateVersion(run, policies, natural, 0) };
    await store.putRecord(lineKey(runId, 0), start);
  }
  run.onStart?.(start);
  for (let index = 1; index <= run.rounds; index++) {
    const done = (await store.getRecord(lineKey(runId, index))) as RoundLine | undefined;
    if (done) {
      lines.push(done);
      continue;
    }
    const spec = roundOf(settings, recipe.roles, index, index - 1);
    const line = await playRound(run, policies, spec, natural);
    await store.putRecord(lineKey(runId, index), line);
    lines.push(line);
    run.onRound?.(line);
  }
  await policies.dispose();
  return summarize(settings, recipe.family.name, start, lines, Math.round(performance.now() - started));
}

/** At most two live sessions: version 0 where a role is frozen, and the newest version. */
class PolicyPair {
  readonly #run: SingleProcess;
  readonly #open = new Map<number, Policy>();

  constructor(run: SingleProcess) {
    this.#run = run;
  }

  async open(version: number): Promise<Policy> {
    const held = this.#open.get(version);
    if (held) return held;
    const keepsZero = this.#run.settings.freeze.length > 0;
    for (const [other, policy] of this.#open)
      if (other !== 0 || !keepsZero) {
        this.#open.delete(other);
        await policy.dispose();
      }
    const ref = { name: this.#run.settings.policy, version };
    const policy = await this.#run.openPolicy(ref, await this.#run.store.loadVersion(ref));
    this.#open.set(version, policy);
    return policy;
  }

  async dispose(): Promise<void> {
    for (const policy of this.#open.values()) await policy.dispose();
    this.#open.clear();
  }
}

async function evaluateVersion(
  { recipe, tokenizer }: SingleProcess,
  policies: PolicyPair,
  natural: readonly JudgeItem[],
  version: number,
) {
  return { version, ...(await evaluate(recipe, await policies.open(version), tokenizer, natural)) };
}

/** Propose, solve, judge: the data side of a round. */
async function rollOut(run: SingleProcess, policies: PolicyPair, round: RoundSpec) {
  const stageOf = async (role: RoleName): Promise<Stage> => ({
    recipe: run.recipe,
    round,
    tokenizer: run.tokenizer,
    policy: await policies.open(round.roles[role]!.version),
  });
  const proposals = await propose(await stageOf('proposer'));
  const rolled = await solve(await stageOf('solver'), proposals.tasks);
  const groups = await judge(await stageOf('judge'), rolled);
  return { proposals, groups };
}

async function playRound(
  run: SingleProcess,
  policies: PolicyPair,
  round: RoundSpec,
  natural: readonly JudgeItem[],
): Promise<RoundLine> {
  const { recipe, store, settings } = run;
  const began = performance.now();
  const { proposals, groups } = await rollOut(run, policies, round);
  await recordRound(store, round, proposals, groups);
  const rolledOut = performance.now();
  const trained = await run.trainer.train({
    recipe,
    round,
    batches: assemble(recipe, round, proposals, groups),
    parent: round.index - 1,
    next: round.index,
    load: (version) => store.loadVersion({ name: settings.policy, version }),
  });
  const version = round.index;
  await store.commitVersion({ name: settings.policy, version }, trained.files);
  const learned = performance.now();
  const monitors = monitorRound(recipe, (ids) => run.tokenizer.decode(ids), proposals, groups);
  const due = version % run.evaluateEvery === 0 || version === run.rounds;
  return {
    kind: 'round',
    round: round.index,
    from: round.index - 1,
    to: version,
    groups: {
      proposed: proposals.samples.length,
      admitted: proposals.tasks.length,
      scored: groups.length,
      trained: groups.length,
      stale: 0,
      failed: 0,
    },
    report: {
      monitors,
      training: trained.report,
      warnings: warningsOf(monitors, trained.report),
      rolloutMs: Math.round(rolledOut - began),
      learnerMs: Math.round(learned - rolledOut),
      ...(due ? { evaluation: await evaluateVersion(run, policies, natural, version) } : {}),
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
