/** Start policies that a local mesh has at hand are stored when somebody first asks for them. */
import * as v from 'valibot';
import { name as policyName } from '../../core/schema/sample.ts';
import { getPolicy, type PolicyRow } from '../store/policies.ts';
import type { Services } from './services.ts';

/** The policy's row. One that is not stored, and that whoever started the mesh can bring, is stored first. */
export async function policyOrStart(
  { db, bringStart }: Pick<Services, 'db' | 'bringStart'>,
  name: string,
): Promise<PolicyRow | undefined> {
  const known = await getPolicy(db, name);
  if (known || !bringStart || !v.is(policyName, name)) return known;
  await bringStart(name);
  return getPolicy(db, name);
}
