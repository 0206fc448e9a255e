/** The builds of the kernels, by the instructions that they use. */

/**
 * plain: no relaxed SIMD. fused: multiply-adds that round once. dot: as plain, except that it uses the relaxed dot product of bytes, which
 * is exact, so plain and dot give the same bits on every host.
 */
export const BUILDS = ['plain', 'fused', 'dot'] as const;
export type Build = (typeof BUILDS)[number];

/** The compiled modules. A build that the host's engine does not accept is absent. */
export type Builds = Readonly<Partial<Record<Build, WebAssembly.Module | undefined>>> & {
  /** The builds in which pairs of 128-bit operations run as one, so that float32 is fastest in wide tiles. */
  readonly wideTiles?: ReadonlySet<Build>;
};
