/** Figures of a round's training: by role for what a policy objective trains, by name for everything else. */

import { type Apart, apart } from '../../core/audit/suspects.ts';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { klOfLogRatio } from '../../core/rl/corrections/index.ts';
import { measuredOf } from '../../core/schema/numbers.ts';
import type { RoleTraining, TrainingReport } from '../../core/schema/report.ts';
import { agreement } from './agreement.ts';
import { unitTokens } from './minibatches.ts';
import { kindOfPart } from './parts/index.ts';
import { scoredTokens, sumOf, type Unit } from './parts/kind.ts';
import { startOf } from './parts/policy.ts';
import type { PlannedUpdate } from './plan.ts';
import type { RoundScores } from './scores.ts';
import type { StepFigures } from './steps.ts';

const mean = (values: readonly number[]): number =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;

export function reportOf(
  planned: readonly PlannedUpdate[],
  scores: Pick<RoundScores, 'of'>,
  steps: readonly StepFigures[],
): TrainingReport {
  const skipped = steps.filter((step) => step.skipped).length;
  const clipped = steps.flatMap((step) => shareOf(step, ({ part }) => part.kind === 'policy'));
  return {
    ...summarizeScores(planned, scores),
    kinds: [...new Set(steps.flatMap(({ parts }) => parts.map(({ part }) => part.kind)))].sort(),
    ...advantageShare(planned),
    tokens: sumOf(steps, ({ units }) => sumOf(units, unitTokens)),
    updates: steps.length,
    ...(skipped ? { skipped } : {}),
    loss: mean(steps.map((step) => step.loss)),
    gradientNorm: measuredOf(mean(steps.map((step) => step.gradientNorm))),
    clipFraction: mean(clipped),
    learningRate: steps.at(-1)?.rate ?? 0,
  };
}

/** Of a running baseline, a sample has an advantage though all rewards of its group are the same. */
function advantageShare(planned: readonly PlannedUpdate[]): Pick<TrainingReport, 'withAdvantage'> {
  const has = planned.flatMap(({ epochs }) =>
    epochs[0]!.flat().flatMap(({ part, item }) => {
      if (part.kind !== 'policy') return [];
      const { advantage } = part.items[item]!;
      return [typeof advantage === 'number' ? advantage !== 0 : advantage.some((one) => one !== 0)];
    }),
  );
  return has.length ? { withAdvantage: sumOf(has, Number) / has.length } : {};
}

/** Means over steps of `<set>/gradientNorm` and, for each part, of `<set>/<role>/<kind>/loss` and its monitor's share. */
export function figuresOf(steps: readonly StepFigures[]): Record<string, number> {
  const series = new Map<string, number[]>();
  const add = (name: string, values: readonly number[]) =>
    series.set(name, [...(series.get(name) ?? []), ...values]);
  for (const step of steps) {
    if (!Number.isNaN(step.gradientNorm)) add(`${step.set}/gradientNorm`, [step.gradientNorm]);
    for (const { part, loss } of step.parts) {
      const name = `${step.set}/${part.role}/${part.kind}`;
      add(`${name}/loss`, [loss]);
      const { monitor } = kindOfPart(part);
      if (monitor)
        add(
          `${name}/${monitor.name}`,
          shareOf(step, (other) => other.part === part),
        );
    }
  }
  return Object.fromEntries([...series].map(([name, values]) => [name, mean(values)]));
}

/** The share of tokens or units that the monitors of the chosen parts counted in a step; empty where the step has no such part. */
function shareOf(
  { parts, units }: StepFigures,
  which: (part: StepFigures['parts'][number]) => boolean,
): number[] {
  const chosen = parts.filter(which);
  const of = new Set(chosen.map(({ part }) => part));
  const size = (unit: Unit): number => {
    const { monitor, countedTokens } = kindOfPart(unit.part);
    return monitor?.per === 'token' ? (countedTokens?.(unit.part, unit) ?? scoredTokens(unit)) : 1;
  };
  const total = sumOf(
    units.filter((unit) => of.has(unit.part)),
    size,
  );
  return total ? [sumOf(chosen, ({ counted }) => counted) / total] : [];
}

interface Scored {
  readonly logprobs: Float32Array;
  readonly entropy: Float32Array;
  readonly start: Float32Array;
}

interface Sampled extends Scored {
  readonly role: string;
  /** Log-probabilities that the rollout runtime recorded, nats [tokens]. */
  readonly rollout: readonly number[];
}

/** Figures by role, and the agreement with the rollouts' log-probabilities. */
function summarizeScores(
  planned: readonly PlannedUpdate[],
  scores: Pick<RoundScores, 'of'>,
): Pick<TrainingReport, 'roles' | 'mismatch' | 'ratio'> {
  const sampled = planned.flatMap(({ set, epochs }) =>
    epochs[0]!.flat().flatMap((unit): Sampled[] => {
      if (unit.part.kind !== 'policy') return [];
      const { own, reference } = scores.of(unit);
      const { role, items }: PolicyPart = unit.part;
      const rollout = items[unit.item]!.sample.logprobs;
      return [{ role, rollout, ...own!, start: reference(startOf(set)) }];
    }),
  );
  const roles = Object.fromEntries(
    [...new Set(sampled.map(({ role }) => role))].map((role) => [
      role,
      trainingOf(sampled.filter((other) => other.role === role)),
    ]),
  );
  const learner = sampled.flatMap(({ logprobs }) => Array.from(logprobs));
  const rollout = sampled.flatMap((sample) => sample.rollout);
  return { roles, ...agreement(learner, rollout) };
}

/** How far the recorded log-probabilities of the samples that a policy objective trains are from the trainer's. */
export const apartOf = (planned: readonly PlannedUpdate[], scores: Pick<RoundScores, 'of'>): Apart[] =>
  planned.flatMap(({ epochs }) =>
    epochs[0]!.flat().flatMap((unit) => {
      if (unit.part.kind !== 'policy') return [];
      const { sample, mask } = unit.part.items[unit.item]!;
      return [apart(sample.id, sample.logprobs, scores.of(unit).own!.logprobs, mask)];
    }),
  );

/** Means over the tokens of all samples; `start` holds log-probabilities under version 0. */
export function trainingOf(samples: readonly Scored[]): RoleTraining {
  const tokens = samples.flatMap(({ logprobs, entropy, start }) =>
    Array.from(logprobs, (logprob, t) => ({
      entropy: entropy[t]!,
      kl: klOfLogRatio('k3', logprob - start[t]!),
    })),
  );
  return {
    samples: samples.length,
    tokens: tokens.length,
    entropy: measuredOf(mean(tokens.map(({ entropy }) => entropy))),
    klToStart: measuredOf(mean(tokens.map(({ kl }) => kl))),
  };
}
