/**
 * WGSL that the kernels share. Every kernel runs in workgroups of 64 and computes its index in a two-dimensional grid. Those that reduce over
 * a workgroup exist twice: through workgroup memory alone, and by the sums of subgroups where the device has them.
 */

/** Threads of a workgroup. */
export const GROUP = 64;

/**
 * A source that is made once for each of its arguments: a kernel is dispatched far more often than there are sources, and a string that is the same
 * object is found at once among the pipelines.
 */
export function once<A extends readonly unknown[], S>(make: (...args: A) => S): (...args: A) => S {
  const made = new Map<string, S>();
  return (...args) => {
    const key = JSON.stringify(args);
    if (!made.has(key)) made.set(key, make(...args));
    return made.get(key)!;
  };
}

const ENTRY = `@compute @workgroup_size(${GROUP}) fn main(
  @builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) t: u32) {`;

/** A kernel with one workgroup per row, for `row` and thread `t`; rows from `count` on are the grid's excess and do nothing. */
export const perRow = (count: string, body: string): string => `${ENTRY}
${rowOf(count, body)}`;

const rowOf = (count: string, body: string): string => `  let row = id.y * grid.x + id.x;
  if (row >= ${count}) { return; }
${body}
}`;

/** A kernel with one thread per element `i`. */
export const perElement = (count: string, body: string): string => `${ENTRY}
  let i = (id.y * grid.x + id.x) * ${GROUP}u + t;
  if (i >= ${count}) { return; }
${body}
}`;

type Combine = (a: string, b: string) => string;
const SUM: Combine = (a, b) => `${a} + ${b}`;
const MAX: Combine = (a, b) => `max(${a}, ${b})`;

const reduction = (name: string, combine: Combine): string => `
fn ${name}(t: u32, value: f32) -> f32 {
  workgroupBarrier();
  shared_values[t] = value;
  for (var s = ${GROUP / 2}u; s > 0u; s >>= 1u) {
    workgroupBarrier();
    if (t < s) { shared_values[t] = ${combine('shared_values[t]', 'shared_values[t + s]')}; }
  }
  workgroupBarrier();
  return shared_values[0];
}`;

/** Each subgroup reduces its own values, and every thread those of the subgroups, in their order. A subgroup may be of any size. */
const bySubgroups = (name: string, own: 'subgroupAdd' | 'subgroupMax', combine: Combine): string => `
fn ${name}(t: u32, value: f32) -> f32 {
  let part = ${own}(value);
  workgroupBarrier();
  if (lane == 0u) { shared_values[subgroup] = part; }
  workgroupBarrier();
  var total = shared_values[0];
  for (var s = 1u; s < subgroups; s++) { total = ${combine('total', 'shared_values[s]')}; }
  return total;
}`;

const SHARED = `var<workgroup> shared_values: array<f32, ${GROUP}>;`;

/** A kernel in two variants, of which the backend takes the second where the device has subgroups. */
export interface Variants {
  readonly plain: string;
  readonly subgroups: string;
}

/** As `perRow`, with sum_all and max_all, which reduce over the threads of a workgroup: every thread must call them. */
export const perReducedRow = (count: string, body: string): Variants => ({
  plain: `${SHARED}
${reduction('sum_all', SUM)}
${reduction('max_all', MAX)}
${perRow(count, body)}`,
  subgroups: `${SHARED}
var<private> subgroup: u32;
var<private> subgroups: u32;
var<private> lane: u32;
${bySubgroups('sum_all', 'subgroupAdd', SUM)}
${bySubgroups('max_all', 'subgroupMax', MAX)}
@compute @workgroup_size(${GROUP}) fn main(
  @builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) t: u32,
  @builtin(subgroup_id) own: u32, @builtin(num_subgroups) all: u32, @builtin(subgroup_invocation_id) within: u32) {
  subgroup = own;
  subgroups = all;
  lane = within;
${rowOf(count, body)}`,
});
