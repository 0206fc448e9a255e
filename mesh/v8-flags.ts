/**
 * V8 flags for the local workerd, which Miniflare takes from an environment variable.
 *
 * Why: all isolates of a workerd share one thread, and on a machine with two cores V8 has one helper thread. If the helper
 * compiles for isolate A and needs A's garbage collector while the thread sweeps isolate B and waits for the helper, both
 * wait for ever at full load. With the collector on one thread nothing waits for the helper.
 *
 * And: every call of a binding leaves native memory behind small JavaScript objects, of whose size V8 knows little
 * (https://github.com/cloudflare/workerd/issues/6894), so that each of some thirty isolates, the simulators of R2 and D1
 * before all, gathers megabytes of garbage between two collections of its whole heap. So here every collection is one of the
 * whole heap, and the young generation, which sets off most of them, begins at 3 MiB instead of 1, for fewer of them:
 * docs/log/020-memory-growth-of-workerd-is-uncollected-garbage.md has the numbers and the price.
 */
const MESH_FLAGS = ['--single-threaded-gc', '--gc-global', '--min-semi-space-size=3'];

/** Every Miniflare that this process starts from now on gives workerd the mesh's flags, and those that were set before. */
export function installV8Flags(): void {
  const set = process.env.MINIFLARE_WORKERD_V8_FLAGS?.split(' ').filter(Boolean) ?? [];
  const missing = MESH_FLAGS.filter((flag) => !set.includes(flag));
  process.env.MINIFLARE_WORKERD_V8_FLAGS = [...set, ...missing].join(' ');
}
