/** Runs a claim's arms as processes of their own, a few at a time, and collects their summaries. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Arm } from '../../core/claims.ts';
import { RollmeshError } from '../../core/errors.ts';
import type { Summary } from '../../core/schema/summary.ts';

export interface ArmRun {
  readonly recipe: string;
  readonly arm: Arm;
  readonly seed: number;
  readonly rounds: number;
  readonly evalEvery: number;
  readonly tasks?: number;
  readonly group?: number;
}

const SCRIPT = fileURLToPath(new URL('../claim-arm.ts', import.meta.url));

function argumentsOf({ recipe, arm, seed, rounds, evalEvery, tasks, group }: ArmRun): string[] {
  return [
    `--recipe=${recipe}`,
    ...(arm.reward ? [`--reward=${arm.reward}`] : []),
    ...(arm.freeze ?? []).map((role) => `--freeze=${role}`),
    ...(arm.variant ? [`--variant=${arm.variant}`] : []),
    `--seed=${seed}`,
    `--rounds=${rounds}`,
    `--eval-every=${evalEvery}`,
    ...(tasks ? [`--tasks=${tasks}`] : []),
    ...(group ? [`--group=${group}`] : []),
  ];
}

/** Throws `give-up` where the process ends without a summary. */
async function runArm(run: ArmRun): Promise<Summary> {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, ...argumentsOf(run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  let summary: Summary | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const record = JSON.parse(line) as { kind: string };
    if (record.kind === 'summary') summary = record as Summary;
  }
  const status = await closed;
  if (summary && status === 0) return summary;
  throw new RollmeshError(
    'give-up',
    'claims.arm',
    `Arm ${run.arm.name} with seed ${run.seed} ended with status ${status}.`,
    {
      next: `Run it alone: node --import tsx cli/claim-arm.ts ${argumentsOf(run).join(' ')}`,
    },
  );
}

/** Results in the order given; at most `jobs` processes at once. */
export async function runArms(
  runs: readonly ArmRun[],
  jobs: number,
  onDone: (run: ArmRun, summary: Summary) => void,
): Promise<Summary[]> {
  const results: Summary[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < runs.length; at = next++) {
      const summary = await runArm(runs[at]!);
      results[at] = summary;
      onDone(runs[at]!, summary);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, runs.length) }, work));
  return results;
}
