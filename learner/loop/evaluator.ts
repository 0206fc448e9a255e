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
import { areForApart, type SampleApart } from './sample-apart.ts';

/** Where completions are sampled apart: `sample` uses all threads, `beside` leaves a core to what goes on meanwhile. */
export interface ApartSampling {
  readonly sample: SampleApart;
  readonly beside: SampleApart;
}

/** An evaluation of the version that a run began from, made while further rounds are. */
interface Early {
  readonly run: string;
  /** Undefined where it failed: it is made again when it is needed. */
  readonly made: Promise<EvaluationReport | undefined>;
  /** Has it begin to sample. */
  readonly release: () => void;
  ended: boolean;
}

export class Evaluator {
  readonly #gateway: Pick<
    GatewayClient,
    'getVersion' | 'getManifest' | 'getTasks' | 'getRun' | 'getRound' | 'listRounds' | 'report'
  >;
  readonly #recipes: Registry;
  readonly #every: number;
  readonly #makeRoom: () => void;
  readonly #tasks: EvaluationTasks | undefined;
  /** A run whose start is still to be evaluated, if its first round gets done. */
  #expected: string | undefined;
  #early: Early | undefined;
  readonly #apart: ApartSampling | undefined;
  /** Results that the evaluations of one run share. Only one run's are kept, because runs come one after the other. */
  #kept: { readonly run: string; readonly of: Map<string, Promise<unknown>> } | undefined;

  /**
   * `makeRoom` is called before a version is opened. `tasks`: which are asked; default: all that are held out. `expected`: a run that begins, or goes on
   * after an interruption. `apart`: where what is small enough is sampled, so that rounds go on meanwhile.
   */
  constructor(
    gateway: Pick<
      GatewayClient,
      'getVersion' | 'getManifest' | 'getTasks' | 'getRun' | 'getRound' | 'listRounds' | 'report'
    >,
    recipes: Registry,
    every: number,
    makeRoom: () => void = () => {},
    tasks?: EvaluationTasks,
    expected?: string,
    apart?: ApartSampling,
  ) {
    this.#apart = apart;
    this.#tasks = tasks;
    this.#expected = expected;
    this.#makeRoom = makeRoom;
    this.#gateway = gateway;
    this.#recipes = recipes;
    this.#every = every;
  }

  /**
   * Evaluates the version that a run began from, and adds it to the report of the run's first round. That is done once this round is trained: on one
   * machine the first round has all cores until then. What is sampled apart is made while the next rounds are, and nobody waits for it; else it is made while
   * the second round is sampled and the learner has nothing to train. `ready` is awaited before the learner's own thread samples anything.
   */
  async ahead(ready: () => Promise<void>): Promise<void> {
    const run = this.#expected;
    if (run === undefined) return;
    const first = (await this.#gateway.listRounds(run)).find(({ index }) => index === 1);
    if (!first) return;
    if (this.#apart && this.#early?.run !== run) this.#begin(run, first.id, this.#apart);
    if (first.state !== 'done' && first.state !== 'failed') return;
    this.#early?.release();
    if (this.#early && !this.#early.ended) return;
    await ready();
    await this.#startOf(run);
  }

  /** Fetches what the evaluation of a run's start needs, and evaluates it apart once that is released. */
  #begin(run: string, round: string, { beside }: ApartSampling): void {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const evaluate = async () => {
      const state = await this.#gateway.getRound(round);
      const isDue = state.state !== 'failed' && !state.report?.start;
      if (!isDue || !(await areForApart(this.#gateway, state.spec))) return undefined;
      const sample: SampleApart = (...asked) => released.then(() => beside(...asked));
      return this.#evaluate(state, newestOf(state.spec).version, undefined, sample);
    };
    // Whatever fails now fails again when the evaluation is due, and is reported then.
    const made = evaluate().catch(() => undefined);
    const early: Early = { run, made, release, ended: false };
    this.#early = early;
    void made.then(() => {
      early.ended = true;
    });
  }

  /** Makes the evaluation that is due after a round that trained a policy to `version`; null where none is due. */
  async after({ spec, ...round }: RoundState, version: number): Promise<RoundReport | null> {
    const { run, index } = spec;
    if (this.#early?.run === run) this.#early.release();
    const { target } = await this.#gateway.getRun(run);
    if (index % this.#every !== 0 && index !== target) {
      if (index === 1) this.#expected = run;
      return null;
    }
    const start = this.#startOf(run);
    // What the learner's own thread samples is sampled one after the other.
    if (!this.#early || this.#early.ended) await start;
    const [from, evaluation] = await Promise.all([start, this.#evaluate({ spec, ...round }, version, start)]);
    return { ...(index === 1 && from ? { start: from } : {}), evaluation };
  }

  /** The evaluation of the version that a run began from, made where it is missing; undefined where the run's first round failed. */
  async #startOf(run: string): Promise<EvaluationReport | undefined> {
    // A failure does not count: it is tried again when an evaluation is due.
    if (run === this.#expected) this.#expected = undefined;
    const round = await this.#gateway.getRound(roundIdOf(run, 1));
    if (round.state !== 'done' || round.report?.start) return round.report?.start;
    const { version } = newestOf(round.spec);
    const early = this.#early?.run === run ? await this.#early.made : undefined;
    const start = early ?? (await this.#evaluate(round, version));
    await this.#gateway.report(round.spec.id, { ...round.report, start });
    return start;
  }

  #evaluate(
    state: RoundState,
    version: number,
    start?: EvaluationReport | Promise<EvaluationReport | undefined>,
    sample: SampleApart | undefined = this.#apart?.sample,
  ): Promise<EvaluationReport> {
    const { spec: round } = state;
    // A training's memory that is in use cannot be given back, and what is sampled beside it is small.
    if (sample === this.#apart?.sample) this.#makeRoom();
    const recipe = this.#recipes.find(round.settings.recipe);
    if (this.#kept?.run !== round.run) this.#kept = { run: round.run, of: new Map() };
    const kept = this.#kept.of;
    return withRoundPolicies(
      this.#gateway,
      state,
      (tools) =>
        evaluateVersion(
          recipe,
          { recipe, round, ...tools, evaluationTasks: this.#tasks },
          version,
          kept,
          start,
        ),
      sample && { sample, gateway: this.#gateway },
    );
  }
}
