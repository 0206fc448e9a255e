/** Runs a claim's arms as processes of their own, a few at a time, and collects their summaries. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Engine, RollmeshError } from 'rollmesh';
import { type RunOrder, type Summary, summary } from 'rollmesh/local';
import * as v from 'valibot';
import type { Arm } from '../rule/claim.ts';

export interface ArmRun {
  /** The claim's name. */
  readonly claim: string;
  readonly recipe: string;
  readonly arm: Arm;
  readonly seed: number;
  readonly rounds: number;
  readonly evalEvery: number;
  readonly tokens?: number;
  readonly tasks?: number;
  readonly groupSize?: number;
  readonly engine: Engine;
  /** The folder of the policy that it begins from; default the recipe's start. */
  readonly start?: string;
  /** By what the step sizes of its parameter sets are multiplied; default 1. */
  readonly stepSizes?: number;
}

/** The environment variable that tells a process which kind of evaluation to do. */
export const EVALUATIONS = 'ROLLMESH_EVALUATIONS';
export type Evaluations = 'full' | 'pilot' | 'quick';
const SCRIPT = fileURLToPath(new URL('./claim-arm.ts', import.meta.url));

/** An arm's run, as the process that plays it reads it. */
export interface ArmOrder {
  readonly claim: string;
  readonly order: RunOrder;
  readonly evalEvery: number;
  readonly tokens?: number;
  readonly start?: string;
  readonly stepSizes?: number;
}

export function orderOf({
  claim,
  recipe,
  arm,
  seed,
  rounds,
  tasks,
  groupSize,
  engine,
  evalEvery,
  ...more
}: ArmRun): ArmOrder {
  const { start, stepSizes, tokens } = more;
  return {
    claim,
    order: {
      recipe,
      seed,
      rounds,
      freeze: [...(arm.freeze ?? [])],
      ...(arm.reward ? { rewardFunction: arm.reward } : {}),
      ...(arm.variant ? { variant: arm.variant } : {}),
      ...(tasks ? { tasks } : {}),
      ...(groupSize ? { groupSize } : {}),
      ...(engine === 'onnx' ? {} : { engine }),
    },
    evalEvery,
    ...(tokens ? { tokens } : {}),
    ...(start ? { start } : {}),
    ...(stepSizes === undefined ? {} : { stepSizes }),
  };
}

/** A process that runs one arm after the other; it gets the Node flags of this process. */
class Player {
  readonly #child;
  readonly #lines;

  constructor(evaluations: Evaluations) {
    this.#child = spawn(process.execPath, [...process.execArgv, SCRIPT], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, [EVALUATIONS]: evaluations },
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Runs one arm. Throws `give-up` where the process ends without a summary. */
  async play(run: ArmRun): Promise<Summary> {
    const line = JSON.stringify(orderOf(run));
    this.#child.stdin.write(`${line}\n`);
    const { value, done } = await this.#lines.next();
    if (!done) return v.parse(summary, JSON.parse(value));
    throw new RollmeshError(
      'give-up',
      'claims.arm',
      `Arm ${run.arm.name} of ${run.recipe} with seed ${run.seed} ended without a summary.`,
      { next: `Run it alone: echo '${line}' | node --conditions=rollmesh-source cli/claim-arm.ts` },
    );
  }

  stop(): void {
    this.#child.kill();
  }
}

/** At most `jobs` processes that run arms; they are started when first needed and kept for the next claim. */
export class Players {
  readonly #jobs: number;
  readonly #evaluations: Evaluations;
  readonly #all: Player[] = [];

  constructor(jobs: number, evaluations: Evaluations) {
    this.#jobs = jobs;
    this.#evaluations = evaluations;
  }

  /** Runs the arms and returns the results in the order given. Only one call may be under way. */
  async play(
    runs: readonly ArmRun[],
    onDone: (run: ArmRun, summary: Summary) => Promise<void>,
  ): Promise<Summary[]> {
    while (this.#all.length < Math.min(this.#jobs, runs.length))
      this.#all.push(new Player(this.#evaluations));
    const results: Summary[] = [];
    let next = 0;
    const work = async (player: Player) => {
      for (let at = next++; at < runs.length; at = next++) {
        const summary = await player.play(runs[at]!);
        results[at] = summary;
        await onDone(runs[at]!, summary);
      }
    };
    await Promise.all(this.#all.map(work));
    return results;
  }

  stop(): void {
    for (const player of this.#all) player.stop();
  }
}
