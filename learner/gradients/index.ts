/**
 * Gradients of the tfjs kernels this project differentiates through. The Node build of tfjs-core ships none, and the file
 * that would register them cannot be loaded by Node's module resolution, so the few that are needed are derived and written here.
 * Where one is missing, backpropagation throws with the kernel's name. Gradients of our own ops are in learner/ops.
 */
import { registerElementwise } from './elementwise.ts';
import { registerPairs } from './pairs.ts';
import { registerLookupsAndProducts } from './products.ts';
import { registerReductions } from './reductions.ts';
import { registerShapes } from './shapes.ts';

/** Registers every gradient of this folder in tfjs' global registry; call once. */
export function registerGradients(): void {
  registerElementwise();
  registerPairs();
  registerReductions();
  registerShapes();
  registerLookupsAndProducts();
}
