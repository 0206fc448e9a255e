/**
 * Held-out evaluation during training. It evaluates the version that a run begins from, then the version of every n-th round and of the
 * last one, and samples through the same generation runtime that the Workers use.
 */

import type { Registry } from '../../core/recipe/registry.ts';
import type { EvaluationTasks } from '../../core/recipe/split.ts';
import { evaluateVersion } from '../../core/round/round-report.ts';
import type { EvaluationReport, RoundReport } from '../../core/schema/report.ts';
import { newestOf, roundIdOf } from '../../core/schema/round.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import type { RoundState } from './ports.ts';
import { withRoundPolicies } from './round-policies.ts';

export class Evaluator {
  readonly #gateway: Pick<
    GatewayClient,
    'getVersion' | 'getTasks' | 'getRun' | 'getRound' | 'listRounds' | 'report'
  >;
  readonly #recipes: Registry;
  readonly #every: number;
  readonly #makeRoom: () => void;
  readonly #tasks: EvaluationTasks | undefined;
  /** A run whose start is still to be evaluated, if its first round gets done. */
  #expected: string | undefined;
  /** Results that the evaluations of one run share. Only one run's are kept, because runs come one after the other. */
  #kept: { readonly run: string; readonly of: Map<string, Promise<unknown>> } | undefined;

  /**
   * `makeRoom` is called before a version is opened. `tasks`: which are asked; default: all that are held out. `expected`: a run that begins, or goes on
   * after an interruption.
   */
  constructor(
    gateway: Pick<GatewayClient, 'getVersion' | 'getTasks' | 'getRun' | 'getRound' | 'listRounds' | 'report'>,
    recipes: Registry,
    every: number,
    makeRoom: () => void = () => {},
    tasks?: EvaluationTasks,
    expected?: string,
  ) {
    this.#tasks = tasks;
    this.#expected = expected;
    this.#makeRoom = makeRoom;
    this.#gateway = gateway;
    this.#recipes = recipes;
    this.#every = every;
  }

  /**
   * Evaluates the version that a run began from, and adds it to the report of the run's first round. That is done once this round is trained, while
   * the second one is sampled and the learner has nothing to train: on one machine the first round has all cores until then. `ready` is awaited
   * before anything is sampled.
   */
  async ahead(ready: () => Promise<void>): Promise<void> {
    const run = this.#expected;
    if (run === undefined) return;
    const first = (await this.#gateway.listRounds(run)).find(({ index }) => index === 1);
    if (first?.state !== 'done' && first?.state !== 'failed') return;
    await ready();
    await this.#startOf(run);
  }

  /** Makes the evaluation that is due after a round that trained a policy to `version`; null where none is due. */
  async after({ spec, ...round }: RoundState, version: number): Promise<RoundReport | null> {
    const { run, index } = spec;
    const { target } = await this.#gateway.getRun(run);
    if (index % this.#every !== 0 && index !== target) {
      if (index === 1) this.#expected = run;
      return null;
    }
    const start = await this.#startOf(run);
    const evaluation = await this.#evaluate({ spec, ...round }, version, start);
    return { ...(index === 1 && start ? { start } : {}), evaluation };
  }

  /** The evaluation of the version that a run began from, made where it is missing; undefined where the run's first round failed. */
  async #startOf(run: string): Promise<EvaluationReport | undefined> {
    // A failure does not count: it is tried again when an evaluation is due.
    if (run === this.#expected) this.#expected = undefined;
    const round = await this.#gateway.getRound(roundIdOf(run, 1));
    if (round.state !== 'done' || round.report?.start) return round.report?.start;
    const { version } = newestOf(round.spec);
    const start = await this.#evaluate(round, version);
    await this.#gateway.report(round.spec.id, { ...round.report, start });
    return start;
  }

  #evaluate(state: RoundState, version: number, start?: EvaluationReport): Promise<EvaluationReport> {
    const { spec: round } = state;
    this.#makeRoom();
    const recipe = this.#recipes.find(round.settings.recipe);
    if (this.#kept?.run !== round.run) this.#kept = { run: round.run, of: new Map() };
    const kept = this.#kept.of;
    return withRoundPolicies(this.#gateway, state, (tools) =>
      evaluateVersion(
        recipe,
        { recipe, round, ...tools, evaluationTasks: this.#tasks },
        version,
        kept,
        start,
      ),
    );
  }
}
