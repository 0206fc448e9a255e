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
  readonly #gateway: Pick<GatewayClient, 'getVersion' | 'getRun' | 'getRound' | 'listRounds'>;
  readonly #recipes: Registry;
  readonly #every: number;
  readonly #makeRoom: () => void;
  readonly #tasks: EvaluationTasks | undefined;
  /** The run that is about to begin; undefined once its start is evaluated, or cannot be any more. */
  #expected: string | undefined;
  /** The evaluation of a start that was made before its round was trained. */
  #early: { readonly round: string; readonly version: number; readonly report: EvaluationReport } | undefined;
  /** Results that the evaluations of one run share. Only one run's are kept, because runs come one after the other. */
  #kept: { readonly run: string; readonly of: Map<string, Promise<unknown>> } | undefined;

  /**
   * `makeRoom` is called before a version is opened. `tasks`: which are asked; default: all that are held out. `expected`: the run that `ahead` waits
   * for.
   */
  constructor(
    gateway: Pick<GatewayClient, 'getVersion' | 'getRun' | 'getRound' | 'listRounds'>,
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
   * Evaluates the version that the expected run begins from while its first round is sampled, which leaves the learner idle. Before that round begins,
   * nothing happens. `ready` is awaited before anything is sampled.
   */
  async ahead(ready: () => Promise<void>): Promise<void> {
    const run = this.#expected;
    if (run === undefined) return;
    const first = (await this.#gateway.listRounds(run)).find(({ index }) => index === 1);
    if (!first) return;
    // A failure does not count: the round's end evaluates the start where that is missing.
    this.#expected = undefined;
    if (first.state === 'done' || first.state === 'failed') return;
    await ready();
    const round = await this.#gateway.getRound(first.id);
    const { version } = newestOf(round.spec);
    this.#early = { round: first.id, version, report: await this.#evaluate(round, version) };
  }

  /** Makes the evaluations that are due after a round that trained `parent` to `version`; null where none is due. */
  async after(
    round: RoundState,
    { parent, version }: { readonly parent: number; readonly version: number },
  ): Promise<RoundReport | null> {
    const { spec } = round;
    const { target } = await this.#gateway.getRun(spec.run);
    const due = spec.index % this.#every === 0 || spec.index === target;
    const first = spec.index === 1;
    if (!due && !first) return null;
    const early = this.#early;
    const start = first
      ? early?.round === spec.id && early.version === parent
        ? early.report
        : await this.#evaluate(round, parent)
      : (await this.#gateway.getRound(roundIdOf(spec.run, 1))).report?.start;
    return {
      ...(first && start ? { start } : {}),
      ...(due ? { evaluation: await this.#evaluate(round, version, start) } : {}),
    };
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
