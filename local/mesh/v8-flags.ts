/**
 * Sets the V8 flags of the local workerd, which Miniflare takes from an environment variable.
 *
 * `--single-threaded-gc` prevents a deadlock. All isolates of a workerd share one thread, and on a machine with two cores V8 has
 * one helper thread. If the helper compiles for isolate A and needs A's garbage collector while the thread sweeps isolate B and
 * waits for the helper, both wait for ever at full load. With the collector on one thread, nothing waits for the helper.
 *
 * The other flags limit memory. Every call of a binding leaves native memory behind small JavaScript objects, of whose size V8
 * knows little (https://github.com/cloudflare/workerd/issues/6894). So each of some thirty isolates, above all the simulators of R2
 * and D1, gathers megabytes of garbage between two collections of its whole heap. With these flags every collection is one of the
 * whole heap, and the young generation, which triggers most of them, begins at 3 MiB instead of 1, so that there are fewer.
 * lab/log/020-memory-growth-of-workerd-is-uncollected-garbage.md has the numbers and the cost.
 *
 * `--wasm-tiering-budget` is 13,000,000 by default. With the larger budget V8 optimises less of ONNX Runtime's code that runs a few times: a third less
 * processor time of workerd in a first round, and the same speed after it.
 */
const MESH_FLAGS = [
  '--single-threaded-gc',
  '--gc-global',
  '--min-semi-space-size=3',
  '--wasm-tiering-budget=30000000',
];

/** What a flag sets, whatever it sets it to: `gc-global` of `--no-gc-global`. */
const subjectOf = (flag: string): string => flag.replace(/^--(?:no-)?/, '').replace(/=.*/, '');

/**
 * Makes every Miniflare that this process starts from now on give workerd the mesh's flags as well as those that were set before. Where one of
 * those says something else than a flag of the mesh, it holds: the tests, whose meshes live for seconds, are run without `--gc-global`.
 */
export function installV8Flags(): void {
  const set = process.env.MINIFLARE_WORKERD_V8_FLAGS?.split(' ').filter(Boolean) ?? [];
  const subjects = new Set(set.map(subjectOf));
  const missing = MESH_FLAGS.filter((flag) => !subjects.has(subjectOf(flag)));
  process.env.MINIFLARE_WORKERD_V8_FLAGS = [...set, ...missing].join(' ');
}
