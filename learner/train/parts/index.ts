/** The kinds of training parts by name, and the units of a part. */
import type { UpdatePart, WeightsRef } from '../../../core/plan/training-plan.ts';
import { classification } from './classification.ts';
import { distillation } from './distillation.ts';
import { implicitPrm } from './implicit-prm.ts';
import type { PartKind, Unit } from './kind.ts';
import { logRatio } from './log-ratio.ts';
import { policy } from './policy.ts';
import { preference } from './preference.ts';
import { rewardPairs } from './reward-pairs.ts';
import { sft } from './sft.ts';
import { turnPreference } from './turn-preference.ts';
import { value } from './value.ts';

const KINDS: { readonly [K in UpdatePart['kind']]: PartKind<Extract<UpdatePart, { kind: K }>> } = {
  policy,
  sft,
  preference,
  'implicit-prm': implicitPrm,
  'log-ratio': logRatio,
  value,
  classification,
  'reward-pairs': rewardPairs,
  'turn-preference': turnPreference,
  distillation,
};

export const kindOfPart = (part: UpdatePart): PartKind => KINDS[part.kind] as PartKind;

/** Frozen weights that are scored for a part: those that its loss reads, and version 0 for the report of a policy part. */
export const allReferences = (part: UpdatePart, set: string): readonly WeightsRef[] =>
  kindOfPart(part).references?.(part, set) ?? [];

/** Those that its loss reads. */
export const lossReferences = (part: UpdatePart, set: string): readonly WeightsRef[] => {
  if (part.kind !== 'policy') return allReferences(part, set);
  return part.kl?.weight ? [part.kl.reference] : [];
};

export const unitsOf = (part: UpdatePart): Unit[] =>
  kindOfPart(part)
    .sequences(part)
    .map((sequences, item) => ({ part, item, sequences }));
