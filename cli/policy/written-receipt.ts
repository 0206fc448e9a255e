/** A receipt of a version, with the code of its recipes as it is here. */
import type { PolicyRef } from '../../core/policy/policy.ts';
import { codeOf } from '../../local/mesh/code-hashes.ts';
import { release } from '../../local/mesh/installation.ts';
import { gatherReceipt, type Receipt } from '../../local/verify/receipt.ts';
import { type VerifiedMesh, VersionChain } from '../../local/verify/verify-version.ts';
import { openRecipesOf } from '../recipe-modules.ts';

/** @param recipe modules of the user's recipes; those of the state folder are found. Throws as `VersionChain.open` and `gatherReceipt`. */
export async function writtenReceipt(
  mesh: VerifiedMesh,
  { name, version }: PolicyRef,
  {
    from,
    state,
    recipe,
  }: { readonly from: number; readonly state: string; readonly recipe: readonly string[] },
): Promise<Receipt> {
  const chain = await VersionChain.open(mesh, name);
  const names = await chain.recipesOf(chain.since(from, version));
  const { modules } = await openRecipesOf(names, state, recipe);
  const code = await codeOf(names, modules);
  return gatherReceipt(mesh, chain, { from, to: version, madeBy: release(), code });
}
