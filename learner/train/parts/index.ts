/** The kinds of parts by name, and a part's units. */
import type { UpdatePart } from '../../../core/training.ts';
import { imitation } from './imitation.ts';
import type { PartKind, Unit } from './kind.ts';
import { label } from './label.ts';
import { outcome } from './outcome.ts';
import { policy } from './policy.ts';
import { preference } from './preference.ts';
import { value } from './value.ts';

const KINDS: { readonly [K in UpdatePart['kind']]: PartKind<Extract<UpdatePart, { kind: K }>> } = {
  policy,
  imitation,
  preference,
  outcome,
  value,
  label,
};

export const kindOfPart = (part: UpdatePart): PartKind => KINDS[part.kind] as PartKind;

export const unitsOf = (part: UpdatePart): Unit[] =>
  kindOfPart(part)
    .sequences(part)
    .map((sequences, item) => ({ part, item, sequences }));
