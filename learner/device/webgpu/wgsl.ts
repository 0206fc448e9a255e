/** WGSL that the kernels share. Every kernel runs in workgroups of 64 and computes its index in a two-dimensional grid. */

/** Threads of a workgroup. */
export const GROUP = 64;

const ENTRY = `@compute @workgroup_size(${GROUP}) fn main(
  @builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u, @builtin(local_invocation_index) t: u32) {`;

/** A kernel with one workgroup per row, for `row` and thread `t`; rows from `count` on are the grid's excess and do nothing. */
export const perRow = (count: string, body: string): string => `${ENTRY}
  let row = id.y * grid.x + id.x;
  if (row >= ${count}) { return; }
${body}
}`;

/** A kernel with one thread per element `i`. */
export const perElement = (count: string, body: string): string => `${ENTRY}
  let i = (id.y * grid.x + id.x) * ${GROUP}u + t;
  if (i >= ${count}) { return; }
${body}
}`;

const reduction = (name: string, combine: (a: string, b: string) => string): string => `
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

/** Defines sum_all and max_all, which reduce over the threads of a workgroup; every thread must call them. */
export const REDUCE = `var<workgroup> shared_values: array<f32, ${GROUP}>;
${reduction('sum_all', (a, b) => `${a} + ${b}`)}
${reduction('max_all', (a, b) => `max(${a}, ${b})`)}`;
