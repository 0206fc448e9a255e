/** Exposes what the two relaxed instructions compute on a host, for the self-test. */
import { madd } from '../shared/vector';
import { dot } from './operands';

/** a * b + c as the products compute it: rounded once if the multiply-add is fused. */
export function probeMadd(a: f32, b: f32, c: f32): f32 {
  return f32x4.extract_lane(madd(f32x4.splat(a), f32x4.splat(b), f32x4.splat(c)), 0);
}

/** Adds the dot products of 16 weights (at `weights`) and 16 activations (at `activations`), by fours, to `sums` i32 [4]. */
export function probeDot(weights: usize, activations: usize, sums: usize): void {
  v128.store(sums, dot(v128.load(weights), v128.load(activations), v128.load(sums)));
}
