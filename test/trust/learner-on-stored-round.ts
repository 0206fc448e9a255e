/** The learner's own code on a stored round, but for the optimiser: what it would train on, and what it refuses with which reason. */
import type { Manifest } from '../../core/schema/policy.ts';
import type { TrainingReport } from '../../core/schema/report.ts';
import type { AuditSettings } from '../../learner/loop/auditor.ts';
import type { LearnerSettings } from '../../learner/loop/settings.ts';
import { trainRound } from '../../learner/loop/train-round.ts';
import type { RoundTrainer } from '../../learner/train/round-trainer.ts';
import { shipped } from '../../recipes/index.ts';
import {
  gatewayOf,
  MESH_KEY,
  messagesOf,
  type PolicyRows,
  type StoredRound,
  stateOf,
} from './stored-round.ts';

const NOTHING_TRAINED: TrainingReport = {
  roles: {},
  tokens: 0,
  updates: 0,
  loss: 0,
  gradientNorm: 0,
  clipFraction: 0,
  learningRate: 0,
  mismatch: { max: 0, mean: 0, kl: 0 },
  ratio: { min: 1, max: 1, effectiveSampleShare: 1 },
};

/** Takes note of the groups that it is given to train on, after loading the version that it would train. */
export class NotingTrainer {
  readonly groups: string[] = [];

  train: RoundTrainer['train'] = async ({ groups, load, parent }) => {
    const files = await load(parent);
    this.groups.push(...groups.map(({ group }) => group));
    return { files, before: {}, report: NOTHING_TRAINED, figures: {}, earnings: {} };
  };

  forget(): void {}
}

export interface Learned {
  /** Groups that were trained on. */
  readonly trained: readonly string[];
  /** Of every group the code of its refusal; null = none. */
  readonly codes: readonly (string | null)[];
  /** Of the version that was made; null = none was. */
  readonly manifest: Manifest | null;
}

/** `rows`: of the policy, as the learner finds it. */
export async function learnFrom(
  round: StoredRound,
  audit?: AuditSettings,
  { maxStaleness = 0, recipes = shipped }: Partial<LearnerSettings> = {},
  rows?: PolicyRows,
): Promise<Learned> {
  const trainer = new NotingTrainer();
  const { gateway, committed } = gatewayOf(round, rows);
  await trainRound(gateway, trainer, stateOf(round), round.rows, messagesOf(round), {
    recipes,
    meshKey: MESH_KEY,
    maxStaleness,
    leaseMs: 1,
    longestIdleMs: 1,
    device: 'test',
    ...(audit ? { audit } : {}),
  });
  const codes = round.rows.map(({ failure }) => failure?.code ?? null);
  return { trained: trainer.groups, codes, manifest: committed() };
}
